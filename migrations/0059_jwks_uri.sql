-- Where a client of private_key_jwt publishes its keys, in place of keys that are registered.
alter table micro_app add column jwks_uri text;
