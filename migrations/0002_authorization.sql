-- Area A: micro-apps, users, and what users allow apps.
--
-- (cid, user_id) identifies one user, never one of the two alone. routing_key is two bytes derived from both and leads
-- every primary key about a user, so that on a sharded PostgreSQL each hot statement touches one shard. Tables that are
-- led by something else therefore have no foreign key to those: the two lie on different shards.
--
-- Lists are read in pages (src/platform/db/page.ts), each order and each filter by an index. None of the indexed
-- columns changes where it is hot. What the purge walks, oldest first, has an index too: dates only grow, so an insert
-- goes to its last page. BRIN would cost less, but its ranges never shrink once purged pages are filled with new rows.
--
-- Between "For each shard" and "For all" are tables of people: with SHARDS each shard has its own (src/platform/db/migrate.ts).

-- Registry: who may ask users for what, and where the answer may go.
create table micro_app (
  app_key            text primary key,
  name               text not null,
  logo_url           text,
  status             text not null check (status in ('pending', 'approved', 'suspended')),
  hosts              text[] not null,              -- 'host', 'host:port' or '*.host', lower case, punycode
  redirect_uris      text[] not null default '{}', -- when not empty, only these exact URIs are allowed
  scopes             text[] not null check (scopes <@ array['USER_INFO', 'PHONE_NUMBER']),
  refresh_days       int not null check (refresh_days in (7, 30, 60, 90)),
  refresh_policy     text not null check (refresh_policy in ('fixed', 'rotating')),
  http_allowed       boolean not null,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  -- Passwords and secrets of the demo are in the README, so a service in production refuses to start with its rows.
  demo               boolean not null default false,
  -- As a client of OAuth 2.0 and OpenID Connect.
  post_logout_uris   text[] not null default '{}',
  token_auth_methods text[] not null default '{client_secret_basic,client_secret_post}',
  require_pkce       boolean not null default false,
  always_ask         boolean not null default false,
  cors_origins       text[] not null default '{}',
  id_token_alg       text not null default 'RS256',
  jwks               jsonb,
  jwks_uri           text,                           -- where it publishes its keys, in place of registered ones
  valid_from         timestamptz,                    -- grants made before are over; null: none are
  require_pkce_in_a1 boolean not null default false,
  issuer_aud_only    boolean not null default false, -- its assertions have to be meant for the issuer alone
  -- Where it is told what happens to grants, and what signs those calls: AES-256-GCM under a key derived from
  -- SECRET_KEY.
  webhook_url        text,
  webhook_secret     bytea
);
create index micro_app_created on micro_app (created_at, app_key);
create index micro_app_demo on micro_app (app_key) where demo; -- few among very many others

-- Two live at once while a secret is rotated; the older one carries its end.
create table micro_app_secret (
  app_key      text not null references micro_app on delete cascade,
  secret_hash  bytea not null,
  created_at   timestamptz not null,
  ends_at      timestamptz,
  last_used_at timestamptz,
  hashed_with  bytea not null, -- fingerprint of the SECRET_KEY that hashed it: what an old one hashed is counted
  primary key (app_key, secret_hash)
);

-- For each shard.

-- Account: users, how they prove who they are, and their sessions.
create table user_profile (
  routing_key    int not null check (routing_key between 0 and 65535),
  cid            int not null,
  user_id        text not null,
  name           text not null,
  gender         text not null check (gender in ('0', '1', '2')),
  big_avatar_url text not null,
  phone_number   text,
  status         text not null check (status in ('active', 'blocked')),
  created_at     timestamptz not null,
  demo           boolean not null default false,
  valid_from     timestamptz, -- grants, sessions and remembered consents from before are over; null: none are
  updated_at     timestamptz, -- when what apps are told last changed; null: not since created_at
  primary key (routing_key, cid, user_id)
);
create index user_profile_created on user_profile (created_at, cid, user_id);
create index user_profile_name on user_profile (lower(name) text_pattern_ops);
create index user_profile_phone on user_profile (phone_number text_pattern_ops) where phone_number is not null;
create index user_profile_phone_number on user_profile (phone_number) where phone_number is not null;
create index user_profile_blocked on user_profile (created_at, cid, user_id) where status = 'blocked';
create index user_profile_demo on user_profile (routing_key, cid, user_id) where demo;

-- For all.

-- Found by passport at sign-in, the one moment when (cid, user_id) is not known yet. Written with the user in one
-- transaction (src/authorization/account/user.ts).
create table user_credential (
  passport       text primary key, -- in its normal form (src/platform/lib/precis.ts), in which passports are compared
  password_hash  text not null,
  routing_key    int not null,
  cid            int not null,
  user_id        text not null,
  passport_shown text,             -- as it was typed, where that differs
  unique (routing_key, cid, user_id)
);
create index user_credential_prefix on user_credential (passport text_pattern_ops);

-- For each shard.

create table browser_session (
  routing_key      int not null,
  session_hash     bytea not null,
  cid              int not null,
  user_id          text not null,
  created_at       timestamptz not null,
  expires_at       timestamptz not null,
  address          text,   -- from where it was opened, for its owner's list of sessions
  user_agent       text,
  amr              text[], -- how the person has proved who they are (RFC 8176); null: with a password alone
  -- What the OpenID provider of the platform said of a session that began there.
  from_upstream    boolean not null default false,
  authenticated_at timestamptz,
  acr              text,
  id_token         bytea,  -- sealed; with it the provider knows its own session again
  primary key (routing_key, session_hash)
);
create index browser_session_expiry on browser_session (expires_at);

-- A picture that a person has uploaded; its address, a part of the profile, names picture_id, so another one has another.
create table profile_picture (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  picture_id  uuid not null,
  bytes       bytea not null, -- JPEG
  made_at     timestamptz not null,
  primary key (routing_key, cid, user_id),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);
create unique index profile_picture_by_id on profile_picture (routing_key, picture_id);

-- How people signed in, and who tried to, for their own page: 90 days. The audit log has the same for operators.
create table sign_in (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  at          timestamptz not null,
  sign_in_id  uuid not null default gen_random_uuid(),
  outcome     text not null check (outcome in ('succeeded', 'failed', 'locked', 'code_asked')),
  method      text not null default 'password',
  address     text,
  user_agent  text,
  primary key (routing_key, cid, user_id, at, sign_in_id)
);
create index sign_in_at on sign_in (at);

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

-- A new phone number or mail address of a person, until the code that was sent there is typed.
create table contact_change (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  kind        text not null, -- phone, mail
  change_id   uuid not null,
  value       text not null,
  tries       int not null default 0, -- wrong codes
  asked_at    timestamptz not null,
  expires_at  timestamptz not null,
  primary key (routing_key, cid, user_id, kind),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);

-- The authenticator (TOTP) of a person; in force once one of its codes has confirmed it.
create table user_totp (
  routing_key  int not null,
  cid          int not null,
  user_id      text not null,
  sealed       bytea not null,
  last_step    bigint not null default 0, -- a code of this step or an earlier one was used already
  created_at   timestamptz not null,
  confirmed_at timestamptz,
  primary key (routing_key, cid, user_id),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);

-- Codes for whoever has lost the authenticator; each works once. Only a hash is kept.
create table recovery_code (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  code_hash   bytea not null,
  created_at  timestamptz not null,
  used_at     timestamptz,
  primary key (routing_key, cid, user_id, code_hash),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);

-- Passkeys (WebAuthn) with which people sign in without a password.
create table passkey (
  routing_key   int not null,
  credential_id bytea not null,
  cid           int not null,
  user_id       text not null,
  passkey_id    uuid not null default gen_random_uuid(), -- names it in forms
  public_key    bytea not null,
  counter       bigint not null, -- of uses, as the authenticator counts; 0 where it does not
  transports    text[] not null,
  name          text not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  primary key (routing_key, credential_id),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);
create index passkey_by_user on passkey (routing_key, cid, user_id);

-- For all.

-- Challenges that were answered: none works twice.
create table used_challenge (
  challenge_hash bytea primary key,
  expires_at     timestamptz not null
);
create index used_challenge_expiry on used_challenge (expires_at);

-- For each shard.

-- OAuth: one consent is one user_grant, one authorization_code, and the tokens that come of it.
create table user_grant (
  routing_key int not null,
  grant_id    uuid not null,
  cid         int not null,
  user_id     text not null,
  app_key     text not null,
  scopes      text[] not null,
  created_at  timestamptz not null,
  revoked_at  timestamptz,
  -- What an id_token says of the sign-in; null where the grant came of the contract's dialect.
  auth_time   timestamptz, -- when the person last proved who they are
  nonce       text,        -- of the authorization request
  sid         text,        -- of the browser session
  acr         text,        -- where the authorization request asked for it
  silent      boolean not null default false, -- of a request that showed no consent page
  amr         text[],
  primary key (routing_key, grant_id)
);
-- A grant is looked up by its key, or all of a user's are. If both indexes were led by the routing key, a plan made
-- while nearly every routing key had one grant could take this one for the first, and go through all grants that share
-- the key.
create index user_grant_of_user on user_grant (user_id, cid, routing_key);
create index user_grant_of_app on user_grant (app_key, created_at, grant_id);
create index user_grant_age on user_grant (created_at);

-- Room on the page for the update that every row is known to get, when the code is spent: it then stays on its page and
-- no index has to be touched (HOT).
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
) with (fillfactor = 45);
create index authorization_code_expiry on authorization_code (expires_at);

-- What a replay of a code is recognised by, once the code is older than a day. Its row is a quarter of a whole code's.
create table used_code (
  routing_key int not null,
  code_hash   bytea not null,
  grant_id    uuid not null,
  used_at     timestamptz not null,
  expires_at  timestamptz not null,
  primary key (routing_key, code_hash)
);
create index used_code_expiry on used_code (expires_at);

create table access_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  scopes      text[] not null,
  expires_at  timestamptz not null,
  primary key (routing_key, token_hash)
);
create index access_token_expiry on access_token (expires_at);

-- Access tokens that were ended before their time because their grant had too many newer ones: they are answered as
-- expired.
create table ended_access_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  expires_at  timestamptz not null,
  primary key (routing_key, token_hash)
);
create index ended_access_token_expiry on ended_access_token (expires_at);

create table refresh_token (
  routing_key int not null,
  token_hash  bytea not null,
  grant_id    uuid not null,
  expires_at  timestamptz not null,
  rotated_at  timestamptz, -- policy rotating: when its successor was handed out
  primary key (routing_key, token_hash)
);
create index refresh_token_expiry on refresh_token (expires_at);

-- What was decided on a consent form first. One row decides, whichever processes are asked at once: who inserts it has
-- decided, everybody else is told what it says. Kept until the form is too old to be sent.
create table consent_decision (
  routing_key int not null,
  form_id     uuid not null, -- also the grant's, if it was approved
  decision    text not null check (decision in ('approve', 'refuse')),
  expires_at  timestamptz not null,
  primary key (routing_key, form_id)
);
create index consent_decision_expiry on consent_decision (expires_at);

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

-- For all.

-- OpenID Connect: keys that sign id_tokens. A key is published from created_at to published_until, signs from
-- signs_from to signs_until, and stays for some time after, to verify hints.
create table signing_key (
  kid             text primary key,
  alg             text not null check (alg in ('RS256', 'ES256')),
  public_jwk      jsonb not null,
  sealed          bytea not null, -- the private JWK
  created_at      timestamptz not null,
  signs_from      timestamptz not null,
  signs_until     timestamptz,    -- null: until a successor signs
  published_until timestamptz
);
create index signing_key_published on signing_key (published_until);

-- Authorization requests that apps have pushed (RFC 9126). One belongs to the browser that opens it first, which may
-- come back until the request is answered: whoever deletes the row answers it.
create table pushed_request (
  request_hash bytea primary key,
  app_key      text not null,
  parameters   text not null, -- form-encoded, without credentials
  expires_at   timestamptz not null,
  opened_by    bytea          -- a mark of that browser, hashed
);
create index pushed_request_expiry on pushed_request (expires_at);

-- Assertions of clients (private_key_jwt, RFC 7523) that were used: each works once.
create table client_assertion (
  assertion_hash bytea primary key, -- of app_key and jti
  expires_at     timestamptz not null
);
create index client_assertion_expiry on client_assertion (expires_at);

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

-- For each shard.

-- Which app has read which user's profile or phone number: a row a user, app, kind and hour (UTC).
create table data_access (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  hour        timestamptz not null,
  app_key     text not null,
  kind        text not null,        -- profile or phone
  reads       int not null,
  last_at     timestamptz not null,
  primary key (routing_key, cid, user_id, hour, app_key, kind)
);
create index data_access_hour on data_access (hour);

-- For all.

-- Requests of area A and of the standard dialect that were refused, for operators to look up; kept 30 days, bounded for
-- each app and day. Nothing of what was sent but the names of its parameters, the beginning of a token, and what stands
-- in `received`.
create table refused_request (
  routing_key int not null,       -- 0 where it is not known whose data it was about
  request_id  uuid not null,      -- X-Request-Id of the answer
  at          timestamptz not null,
  endpoint    text not null,      -- A1 to A5, or the path
  method      text not null,
  status      int not null,
  rescode     int not null,
  failure     text,               -- its name in the table of failures; null: it could not be read, or we failed
  detail      text,
  parameters  text not null,      -- names, between spaces
  app_key     text,               -- of an app that exists
  proved      boolean not null,   -- whether the caller showed that it is that app; otherwise it only said so
  token       text,               -- its first 17 characters
  cid         int,                -- whose data it was about, where the token says so
  user_id     text,
  received    jsonb,              -- the parameter that it was refused for, to be shown beside what is registered
  primary key (routing_key, request_id)
);
create index refused_request_id on refused_request (request_id);
create index refused_request_at on refused_request (at);
create index refused_request_app on refused_request (app_key, at) where app_key is not null;
create index refused_request_token on refused_request (token, at) where token is not null;
create index refused_request_user on refused_request (routing_key, cid, user_id, at) where user_id is not null;

-- People who asked for the deletion of their account. due_at: when it happens by itself; null where an operator
-- decides.
create table deletion_request (
  routing_key  int not null,
  cid          int not null,
  user_id      text not null,
  requested_at timestamptz not null,
  due_at       timestamptz,
  primary key (routing_key, cid, user_id)
);
create index deletion_request_order on deletion_request (requested_at, cid, user_id);
create index deletion_request_due on deletion_request (due_at) where due_at is not null;
