-- Who works in the sandbox, and the signature tool that comes before it.

-- A session ends with the secret that it was opened with: its id is bound to one clientSecret.
create table sandbox_session (
  session_hash bytea primary key, -- keyed hash of the cookie's value
  partner_id   bigint not null references partner on delete cascade,
  secret_id    uuid not null references partner_secret on delete cascade,
  created_at   timestamptz not null,
  expires_at   timestamptz not null
);
create index sandbox_session_partner on sandbox_session (partner_id);
create index sandbox_session_secret on sandbox_session (secret_id);
create index sandbox_session_expiry on sandbox_session (expires_at);

-- What the signature tool was shown: the newest of each partner, for it to read the verdicts.
create table signature_test (
  test_id        bigint generated always as identity primary key,
  partner_id     bigint not null references partner on delete cascade,
  tested_at      timestamptz not null,
  source         text not null check (source in ('sent', 'pasted')),
  mistakes       text[] not null, -- none: passed
  method         text not null,
  path           text not null,
  date_header    text not null,
  authorization_header text not null, -- the signature shortened
  string_to_sign text not null,
  signed_instead text             -- where it was found out
);
create index signature_test_partner on signature_test (partner_id, test_id);

-- Passing once unlocks the test run, however many calls come after it.
create table signature_pass (
  partner_id bigint primary key references partner on delete cascade,
  passed_at  timestamptz not null
);
