-- The people of a partner who sign in to the sandbox by themselves.
create table partner_member (
  member_id          uuid primary key,
  partner_id         bigint not null references partner on delete cascade,
  mail               text not null,          -- as it was typed: mails go there
  mail_key           text not null,          -- in lower case
  role               text not null check (role in ('owner', 'developer')),
  password_hash      text,                   -- argon2id
  credential_version int not null default 0, -- sessions that were opened under an older one are over
  invited_at         timestamptz not null,
  joined_at          timestamptz,            -- when the first password was set
  removed_at         timestamptz,
  check (password_hash is null or joined_at is not null)
);
create unique index partner_member_mail on partner_member (partner_id, mail_key) where removed_at is null;
create index partner_member_partner on partner_member (partner_id);
create index partner_member_removed on partner_member (removed_at) where removed_at is not null;
