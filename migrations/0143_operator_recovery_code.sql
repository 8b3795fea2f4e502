-- Codes for an operator who has lost the authenticator; each works once. Only a hash is kept.
create table operator_recovery_code (
  operator_id uuid not null references operator on delete cascade,
  code_hash   bytea not null,
  used_at     timestamptz,
  primary key (operator_id, code_hash)
);
