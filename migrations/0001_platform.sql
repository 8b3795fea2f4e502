-- What every floor uses: the state of the database, throttling, the audit log, and changes of records.

-- One row: the SECRET_KEY of this database, as a fingerprint from which the key cannot be found, and a place to write
-- to when it is to be known whether the database takes writes.
create table installation (
  only_one               boolean primary key default true check (only_one),
  secret_key_fingerprint bytea not null,
  made_at                timestamptz not null default now(),
  checked_at             timestamptz,
  makes_since            timestamptz, -- since when values are made with this key; null: since the beginning
  -- When a purge last came to its end, in whichever process, for the alert about purges that do not. It counts from
  -- here before the first one, so that an installation in which nothing purges is seen.
  purged_at              timestamptz not null default now()
);

-- Failures of whatever is guessed (sign-in, app_secret), counted in windows. The subject is a keyed hash, so no
-- address and no passport is kept for this.
create table failed_attempt (
  subject        bytea primary key,
  failures       int not null,
  window_ends_at timestamptz not null
);
create index failed_attempt_window on failed_attempt (window_ends_at);

-- What callers did in the current window of each rate (src/platform/throttle/rates.ts), summed over all processes. The
-- subject is a keyed hash, so no address and no app_key is kept for this. Counts of a minute need not outlive a crash
-- of the database, so they are spared the write-ahead log. Half of each page is left free for the updates that a row
-- gets.
create unlogged table rate_count (
  subject        bytea primary key,
  uses           int not null,
  window_ends_at timestamptz not null
) with (fillfactor = 50);
create index rate_count_window on rate_count (window_ends_at);

-- What an operator or an investigator asks about later: who did what, to what, from where and in which request. Rows
-- about a user lead with the routing key.
create table audit_event (
  routing_key int not null default 0,
  audit_id    uuid not null default gen_random_uuid(),
  at          timestamptz not null,
  event       text not null,
  app_key     text,
  cid         int,
  user_id     text,
  detail      jsonb not null default '{}',
  actor       text not null default 'system', -- operator (admin API), cli (command line), app, user, partner, or system
  actor_name  text,                           -- of an operator, a member, an app; null where the kind says all
  target      text,                           -- such as app:demo-app, user:1/10001, partner:7, order:15
  partner_id  bigint,
  address     text,
  request_id  text,
  outcome     text not null default 'done',
  primary key (routing_key, audit_id)
);
create index audit_event_order on audit_event (at, audit_id);
create index audit_event_action on audit_event (event text_pattern_ops, at);
create index audit_event_actor on audit_event (actor_name, at);
create index audit_event_target on audit_event (target, at);
create index audit_event_request on audit_event (request_id, at) where request_id is not null;
-- What was done by operators, commands, apps, partners, jobs or the service. Users are most of the log: its order finds
-- them.
create index audit_event_kind on audit_event (actor, at) where actor <> 'user';

-- Rows that no seal covers yet: written with the row itself, taken away by the seal.
create table audit_unsealed (
  routing_key int not null,
  audit_id    uuid not null,
  primary key (routing_key, audit_id)
);

-- The chain that shows when a row is missing or altered. A seal covers some rows in their order; its authentication
-- code covers those and that of the seal before.
create table audit_seal (
  seal_no      bigint primary key,
  before_at    timestamptz,          -- last_at of the seal before
  first_at     timestamptz not null, -- of the rows covered
  last_at      timestamptz not null,
  routing_keys int[] not null,
  audit_ids    uuid[] not null,
  row_digests  bytea not null,       -- 16 bytes a row
  key_id       text not null,        -- which SECRET_KEY
  chain        bytea not null,
  -- The code of the seal before: once old seals are purged, the first one that is left can still be verified.
  before_chain bytea not null
);
create index audit_seal_last_at on audit_seal (last_at);

-- Every change of a product or an order, with its cause.
create table record_change (
  change_id  bigint generated always as identity primary key,
  at         timestamptz not null,
  partner_id bigint not null,
  record     text not null check (record in ('product', 'order', 'voucher', 'refund')),
  record_id  text not null,
  order_id   bigint,
  cause      text not null check (cause in ('notice', 'call', 'operator', 'job')),
  cause_id   text,
  change     jsonb not null -- field → [before, after]
);
create index record_change_order on record_change (order_id, change_id);
create index record_change_record on record_change (partner_id, record, record_id, change_id);
