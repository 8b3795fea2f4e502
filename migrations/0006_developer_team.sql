-- People who develop micro-apps, and have accepted the terms for that.
create table developer (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  accepted_at timestamptz not null,
  primary key (routing_key, cid, user_id)
);
-- Developers work on apps in teams.
create table team (
  team_id    uuid primary key,
  name       text not null,
  created_at timestamptz not null
);
create table team_member (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  team_id     uuid not null references team on delete cascade,
  member_id   uuid not null unique,
  role        text not null check (role in ('owner', 'developer')),
  joined_at   timestamptz not null,
  primary key (routing_key, cid, user_id, team_id)
);
create index team_member_team on team_member (team_id);
-- Somebody who is asked by mail to join. Gone once that is done.
create table team_invitation (
  invitation_id uuid primary key,
  team_id       uuid not null references team on delete cascade,
  mail          text not null,         -- as it was typed: the mail goes there
  mail_key      text not null,         -- in lower case
  role          text not null check (role in ('owner', 'developer')),
  link_id       uuid not null unique,  -- also the mail's Message-ID
  link_hash     bytea not null unique, -- keyed hash of the link's token
  invited_at    timestamptz not null,
  expires_at    timestamptz not null,
  mail_state    text not null check (mail_state in ('waiting', 'sent', 'failed')),
  mail_error    text,                  -- for the team's owners to read
  unique (team_id, mail_key)
);
create index team_invitation_expiry on team_invitation (expires_at);
-- An app in development takes answers on its developers' machines alone, for its own test users.
alter table micro_app add column stage text not null default 'live' check (stage in ('development', 'live'));
-- Which team's an app is. Those of nobody belong to the operators.
create table team_app (
  app_key  text primary key references micro_app on delete cascade,
  team_id  uuid not null references team,
  kind     text not null check (kind in ('server', 'page', 'native')),
  reasons  jsonb not null default '{}', -- what each scope is for, by its name
  given_at timestamptz not null
);
create index team_app_team on team_app (team_id);
