-- Credentials are found by passport, users by their routing key: on a sharded PostgreSQL the two lie on different shards,
-- where a foreign key between them cannot be. They are written in one transaction (src/authorization/account/user.ts).
alter table user_credential drop constraint if exists user_credential_routing_key_cid_user_id_fkey;
