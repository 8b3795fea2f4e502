-- Links that are sent to members by mail, each to be used once: to join, or to set a new password.
create table member_link (
  link_id       uuid primary key,      -- also the mail's Message-ID
  link_hash     bytea not null unique, -- keyed hash of the link's token
  member_id     uuid not null references partner_member on delete cascade,
  purpose       text not null check (purpose in ('invitation', 'password')),
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  used_at       timestamptz,
  mail_state    text not null check (mail_state in ('waiting', 'sent', 'failed')),
  mail_error    text                   -- for the partner's owners to read
);
create index member_link_member on member_link (member_id);
create index member_link_expiry on member_link (expires_at);
