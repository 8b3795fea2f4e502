-- What a person has allowed an app in the standard dialect, and is not asked again. Deleted when a grant is withdrawn.
create table remembered_consent (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  app_key     text not null,
  scopes      text[] not null,
  allowed_at  timestamptz not null,
  primary key (routing_key, cid, user_id, app_key)
);
create index remembered_consent_allowed on remembered_consent (allowed_at);
