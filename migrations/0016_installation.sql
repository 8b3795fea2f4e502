-- One row: which SECRET_KEY this database was made with, as a fingerprint from which the key cannot be found, and a place to
-- write to when it is to be known whether the database takes writes.
create table installation (
  only_one               boolean primary key default true check (only_one),
  secret_key_fingerprint bytea not null,
  made_at                timestamptz not null default now(),
  checked_at             timestamptz
);
