-- Users. (cid, user_id) identifies one user, never one of the two alone. routing_key is two bytes derived from both
-- and leads every primary key about a user, so that on a sharded PostgreSQL each hot statement touches one shard.

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
  primary key (routing_key, cid, user_id)
);

-- Found by passport at sign-in, the one moment when (cid, user_id) is not known yet.
create table user_credential (
  passport      text primary key,
  password_hash text not null,
  routing_key   int not null,
  cid           int not null,
  user_id       text not null,
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade,
  unique (routing_key, cid, user_id)
);

create table browser_session (
  routing_key  int not null,
  session_hash bytea not null,
  cid          int not null,
  user_id      text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  primary key (routing_key, session_hash)
);
create index browser_session_expiry on browser_session (expires_at);
