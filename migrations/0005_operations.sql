-- Those who operate the service, what each may do, and how they prove who they are; and what their pages count.
create table operator (
  operator_id        uuid primary key,
  name               text not null,
  role               text not null check (role in ('viewer', 'support', 'editor', 'admin')),
  status             text not null check (status in ('active', 'disabled')),
  created_at         timestamptz not null,
  password_hash      text,                      -- argon2id
  totp_sealed        bytea,                     -- AES-256-GCM
  totp_confirmed_at  timestamptz,               -- once a code of it was given
  totp_last_step     bigint not null default 0, -- a code of this step or an earlier one was used already
  credential_version int not null default 0     -- sessions that were opened under an older one are over
);
create unique index operator_name on operator (lower(name));

create table operator_token (
  token_hash   bytea primary key,
  token_id     uuid not null unique,
  operator_id  uuid not null references operator on delete cascade,
  name         text not null,
  role         text not null check (role in ('viewer', 'support', 'editor', 'admin')),
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create index operator_token_operator on operator_token (operator_id, created_at);
create index operator_token_expiry on operator_token (expires_at);

create table operator_session (
  session_hash       bytea primary key,
  operator_id        uuid not null references operator on delete cascade,
  credential_version int not null,
  pending            boolean not null, -- the password was given, but there is no TOTP yet
  created_at         timestamptz not null,
  last_seen_at       timestamptz not null,
  expires_at         timestamptz not null
);
create index operator_session_expiry on operator_session (expires_at);
create index operator_session_operator on operator_session (operator_id);

-- Codes for an operator who has lost the authenticator; each works once. Only a hash is kept.
create table operator_recovery_code (
  operator_id uuid not null references operator on delete cascade,
  code_hash   bytea not null,
  used_at     timestamptz,
  primary key (operator_id, code_hash)
);

-- Sessions of the operator of ADMIN_TOKEN, who has no row in operator. They are over with the token that opened them.
create table first_operator_session (
  session_hash bytea primary key,
  token_mark   bytea not null, -- HMAC of ADMIN_TOKEN
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null
);
create index first_operator_session_expiry on first_operator_session (expires_at);

-- Which workers of durable jobs live. A worker renews its lease by the clock of the database, long before it ends. Once
-- a lease has ended its worker is dead, or takes no more jobs and calls nobody, and others may do what it held.
create table worker_lease (
  worker_id text primary key,
  ends_at   timestamptz not null
);

-- What the console shows of 24 hours and 30 days: requests, and failures by app and by partner, an hour a row.
-- Processes count in memory and add what they have counted once a minute.
create table activity_hour (
  hour    timestamptz not null,
  kind    text not null check (kind in ('requests', 'app', 'call', 'notice')),
  subject text not null,
  total   bigint not null,
  refused bigint not null,
  failed  bigint not null,
  primary key (hour, kind, subject)
);
