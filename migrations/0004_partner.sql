-- Ticket sellers that are integrated over signed calls (area B).

create table partner (
  partner_id     bigint primary key,
  client_id      text not null unique,
  name           text not null,
  status         text not null check (status in ('active', 'suspended')),
  stage          text not null check (stage in ('sandbox', 'live')),
  base_url       text,                         -- interfaces are found under it by their default paths
  interface_urls jsonb not null default '{}',  -- interface name → URL, where it is not the default
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  check (client_id <> '')
);

-- clientSecrets must be readable to sign with: AES-256-GCM under a key derived from SECRET_KEY. Two live at once while
-- one is rotated; exactly one signs our calls, and moves only when an operator says so.
create table partner_secret (
  secret_id    uuid primary key,
  partner_id   bigint not null references partner on delete cascade,
  sealed       bytea not null,
  signs        boolean not null,
  overlap_s    int not null default 0,         -- set at rotation: how long the one before still works once this one signs
  created_at   timestamptz not null,
  ends_at      timestamptz,
  last_used_at timestamptz
);
create index partner_secret_partner on partner_secret (partner_id);
create unique index partner_secret_signing on partner_secret (partner_id) where signs;

create table partner_contact (
  partner_id  bigint not null references partner on delete cascade,
  role        text not null check (role in ('product', 'business')),
  name        text not null,
  mail        text not null,
  webhook_url text,
  primary key (partner_id, role)
);
