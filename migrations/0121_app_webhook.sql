-- Where a micro-app is told what happens to grants, and what signs those calls: AES-256-GCM under a key derived from SECRET_KEY.
alter table micro_app
  add column webhook_url text,
  add column webhook_secret bytea;

-- What an app is told over its webhook. It outlives its user: an erasure is told too. Kept 30 days.
create table app_event (
  routing_key int not null,
  event_id    uuid not null,        -- also webhook-id
  app_key     text not null,
  type        text not null,        -- such as grant.revoked
  cid         int not null,
  user_id     text not null,
  reason      text not null,
  all_ended   boolean not null,     -- whether the app has no grant of the user any more
  state       text not null check (state in ('waiting', 'sent', 'failed')),
  attempts    int not null default 0,
  last_error  text,
  created_at  timestamptz not null,
  sent_at     timestamptz,
  primary key (routing_key, event_id)
);
create index app_event_waiting on app_event (app_key, attempts, created_at) where state = 'waiting';
create index app_event_of_app on app_event (app_key, created_at, event_id);
create index app_event_created_at on app_event (created_at);
