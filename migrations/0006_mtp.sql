-- Notices that were accepted, each with the answer it got: the same notice again gets the same answer.
create table notice (
  client_id   text not null,
  path        text not null,
  body_hash   bytea not null, -- SHA-256
  notice_id   uuid not null unique,
  partner_id  bigint not null,
  received_at timestamptz not null,
  body        text not null,  -- as received
  answer      text not null,
  primary key (client_id, path, body_hash)
);
create index notice_partner on notice (partner_id, received_at);

-- Calls that were refused, for the partner to see in the sandbox; kept 30 days.
create table rejected_call (
  call_id     uuid primary key,
  received_at timestamptz not null,
  partner_id  bigint,         -- null where the clientId is unknown
  client_id   text,
  path        text not null,
  reason      text not null,
  headers     jsonb not null, -- the signature shortened
  body        text not null,
  answer      text not null
);
create index rejected_call_partner on rejected_call (partner_id, received_at);
create index rejected_call_age on rejected_call (received_at);
