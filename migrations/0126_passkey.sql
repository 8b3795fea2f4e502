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

-- Challenges that were answered: none works twice.
create table used_challenge (
  challenge_hash bytea primary key,
  expires_at     timestamptz not null
);
create index used_challenge_expiry on used_challenge (expires_at);
