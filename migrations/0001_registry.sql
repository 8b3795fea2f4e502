-- Micro-apps of third parties: who may ask users for what, and where the answer may go.

create table micro_app (
  app_key        text primary key,
  name           text not null,
  logo_url       text,
  status         text not null check (status in ('pending', 'approved', 'suspended')),
  hosts          text[] not null,              -- 'host', 'host:port' or '*.host', lower case, punycode
  redirect_uris  text[] not null default '{}', -- when not empty, only these exact URIs are allowed
  scopes         text[] not null check (scopes <@ array['USER_INFO', 'PHONE_NUMBER']),
  refresh_days   int not null check (refresh_days in (7, 30, 60, 90)),
  refresh_policy text not null check (refresh_policy in ('fixed', 'rotating')),
  http_allowed   boolean not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);

-- Two live at once while a secret is rotated; the older one carries its end.
create table micro_app_secret (
  app_key      text not null references micro_app on delete cascade,
  secret_hash  bytea not null,
  created_at   timestamptz not null,
  ends_at      timestamptz,
  last_used_at timestamptz,
  primary key (app_key, secret_hash)
);

-- Failures of whatever is guessed (sign-in, app_secret), counted in windows. The subject is a keyed hash, so no
-- address and no passport is kept for this.
create table failed_attempt (
  subject        bytea primary key,
  failures       int not null,
  window_ends_at timestamptz not null
);
create index failed_attempt_window on failed_attempt (window_ends_at);

-- What an operator or an investigator asks about later. Rows about a user lead with the routing key.
create table audit_event (
  routing_key int not null default 0,
  audit_id    uuid not null default gen_random_uuid(),
  at          timestamptz not null,
  event       text not null,
  app_key     text,
  cid         int,
  user_id     text,
  detail      jsonb not null default '{}',
  primary key (routing_key, audit_id)
);
create index audit_event_at on audit_event (at);
