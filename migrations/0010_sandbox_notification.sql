-- Who is told that an integration has passed, and the report that proves it.

-- One row a contact and channel; what the message says stands in it, so that a repeated one is the same.
create table sandbox_notification (
  notification_id uuid primary key,     -- also Message-ID and webhook-id
  run_id          uuid not null references sandbox_run on delete cascade,
  partner_id      bigint not null,
  role            text not null check (role in ('product', 'business')),
  channel         text not null check (channel in ('mail', 'webhook')),
  name            text not null,
  address         text not null,        -- of mail, or the webhook's URL
  facts           jsonb not null,       -- see src/sandbox/portal/notify/wire.ts
  state           text not null check (state in ('waiting', 'sent', 'failed')),
  attempts        int not null default 0,
  last_error      text,                 -- for the partner to read
  created_at      timestamptz not null,
  waiting_since   timestamptz not null, -- a day later it is given up
  sent_at         timestamptz,
  unique (run_id, role, channel),
  check ((sent_at is not null) = (state = 'sent'))
);

create table sandbox_report (
  run_id     uuid primary key references sandbox_run on delete cascade,
  report_id  text not null unique, -- 128 random bits: who knows it may read the report
  content    text not null,        -- canonical JSON (RFC 8785), to the byte what was signed
  signature  text not null,        -- Ed25519, base64url
  key_id     text not null,        -- RFC 7638 thumbprint of the key
  created_at timestamptz not null
);
