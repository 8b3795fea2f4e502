-- Those who operate the service, what each may do, and how they prove who they are.
create table operator (
  operator_id        uuid primary key,
  name               text not null,
  role               text not null check (role in ('viewer', 'support', 'editor', 'admin')),
  status             text not null check (status in ('active', 'disabled')),
  created_at         timestamptz not null,
  password_hash      text,                   -- argon2id
  totp_sealed        bytea,                  -- AES-256-GCM
  totp_confirmed_at  timestamptz,            -- once a code of it was given
  totp_last_step     bigint not null default 0, -- a code of this step or an earlier one was used already
  credential_version int not null default 0  -- sessions that were opened under an older one are over
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
  pending            boolean not null,       -- the password was given, but there is no TOTP yet
  created_at         timestamptz not null,
  last_seen_at       timestamptz not null,
  expires_at         timestamptz not null
);
create index operator_session_expiry on operator_session (expires_at);
create index operator_session_operator on operator_session (operator_id);
