-- Sessions of the operator of ADMIN_TOKEN, who has no row in operator. They are over with the token that opened them.
create table first_operator_session (
  session_hash bytea primary key,
  token_mark   bytea not null,       -- HMAC of ADMIN_TOKEN
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null
);
create index first_operator_session_expiry on first_operator_session (expires_at);
