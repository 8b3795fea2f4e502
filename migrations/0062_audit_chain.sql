-- Who exactly did it, to what, from where and in which request; and the chain that shows when a row is missing or altered.
alter table audit_event
  add column actor_name text,                        -- of an operator, a member, an app; null where the kind says all
  add column target     text,                        -- such as app:demo-app, user:1/10001, partner:7, order:15
  add column partner_id bigint,
  add column address    text,
  add column request_id text,
  add column outcome    text not null default 'done';
create index audit_event_order on audit_event (at, audit_id);
create index audit_event_action on audit_event (event text_pattern_ops, at);
create index audit_event_actor on audit_event (actor_name, at);
create index audit_event_target on audit_event (target, at);
drop index audit_event_at;

-- Rows that no seal covers yet: written with the row itself, taken away by the seal.
create table audit_unsealed (
  routing_key int not null,
  audit_id    uuid not null,
  primary key (routing_key, audit_id)
);
insert into audit_unsealed (routing_key, audit_id) select routing_key, audit_id from audit_event;

-- The chain. A seal covers some rows in their order; its authentication code covers those and that of the seal before.
create table audit_seal (
  seal_no      bigint primary key,
  before_at    timestamptz,          -- last_at of the seal before
  first_at     timestamptz not null, -- of the rows covered
  last_at      timestamptz not null,
  routing_keys int[] not null,
  audit_ids    uuid[] not null,
  row_digests  bytea not null,       -- 16 bytes a row
  key_id       text not null,        -- which SECRET_KEY
  chain        bytea not null
);
create index audit_seal_last_at on audit_seal (last_at);
