-- Assertions of clients (private_key_jwt, RFC 7523) that were used: each works once.
alter table micro_app add column jwks jsonb;

create table client_assertion (
  assertion_hash bytea primary key, -- of app_key and jti
  expires_at     timestamptz not null
);
create index client_assertion_expiry on client_assertion (expires_at);
