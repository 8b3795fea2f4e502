-- Access tokens that were ended before their time because their grant had too many newer ones: they are answered as expired.
create table ended_access_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  expires_at  timestamptz not null,
  primary key (routing_key, token_hash)
);
create index ended_access_token_expiry on ended_access_token (expires_at);
