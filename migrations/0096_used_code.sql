-- What a replay of a code is recognised by, once the code is older than a day. Its row is a quarter of a whole code's.
create table used_code (
  routing_key int not null,
  code_hash   bytea not null,
  grant_id    uuid not null,
  used_at     timestamptz not null,
  expires_at  timestamptz not null,
  primary key (routing_key, code_hash)
);
create index used_code_expiry on used_code (expires_at);
