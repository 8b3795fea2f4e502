-- One-time links with which somebody sets a new password. Only a keyed hash is kept; none works twice.
create table password_link (
  routing_key int not null,
  link_hash   bytea not null,
  cid         int not null,
  user_id     text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  used_at     timestamptz,
  primary key (routing_key, link_hash)
);
create index password_link_expiry on password_link (expires_at);
