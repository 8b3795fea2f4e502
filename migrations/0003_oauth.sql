-- One consent is one user_grant, one authorization_code, and the tokens that come of it.

create table user_grant (
  routing_key int not null,
  grant_id    uuid not null,
  cid         int not null,
  user_id     text not null,
  app_key     text not null,
  scopes      text[] not null,
  created_at  timestamptz not null,
  revoked_at  timestamptz,
  primary key (routing_key, grant_id)
);
create index user_grant_user on user_grant (routing_key, cid, user_id);
create index user_grant_app on user_grant (app_key);

create table authorization_code (
  routing_key    int not null,
  code_hash      bytea not null,
  grant_id       uuid not null,
  app_key        text not null,
  redirect_uri   text not null,
  state          text not null,
  code_challenge text,
  expires_at     timestamptz not null,
  failed_tries   int not null default 0,
  used_at        timestamptz,
  primary key (routing_key, code_hash)
);
create index authorization_code_expiry on authorization_code (expires_at);

create table access_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  scopes      text[] not null,
  expires_at  timestamptz not null,
  primary key (routing_key, token_hash)
);
create index access_token_expiry on access_token (expires_at);

create table refresh_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  expires_at  timestamptz not null,
  rotated_at  timestamptz, -- policy rotating: when its successor was handed out
  primary key (routing_key, token_hash)
);
create index refresh_token_expiry on refresh_token (expires_at);
