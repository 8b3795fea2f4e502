-- Sessions of the holder of ADMIN_TOKEN are rows of operator_session too. They are over with the token that opened them,
-- and now with this migration.
drop table first_operator_session;
alter table operator_session
  alter column operator_id drop not null,
  alter column credential_version drop not null,
  add column token_mark bytea, -- HMAC of ADMIN_TOKEN, where no operator has signed in
  add constraint operator_session_of_one check (
    (operator_id is null) = (token_mark is not null) and (operator_id is null) = (credential_version is null)
  );

-- Hashes of the unused recovery codes belong to the operator, as the authenticator does that they stand for.
alter table operator add column recovery_hashes bytea[] not null default '{}';
update operator o set recovery_hashes = array(
  select code_hash from operator_recovery_code c where c.operator_id = o.operator_id and c.used_at is null
);
drop table operator_recovery_code;
