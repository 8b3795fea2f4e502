-- From where a session was opened, for its owner's list of sessions. Null for sessions from before.
alter table browser_session
  add column address text,
  add column user_agent text;

-- How people signed in, and who tried to, for their own page: 90 days. The audit log has the same for operators.
create table sign_in (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  at          timestamptz not null,
  sign_in_id  uuid not null default gen_random_uuid(),
  outcome     text not null check (outcome in ('succeeded', 'failed', 'locked')),
  method      text not null default 'password',
  address     text,
  user_agent  text,
  primary key (routing_key, cid, user_id, at, sign_in_id)
);
create index sign_in_at on sign_in (at);
