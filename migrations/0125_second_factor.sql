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

-- How the person has proved who they are (RFC 8176); null: with a password alone.
alter table browser_session add column amr text[];
alter table user_grant add column amr text[]; -- what an id_token says of it
