-- Grants, sessions and remembered consents of before are over. Null: none are.
alter table user_profile add column valid_from timestamptz;
alter table micro_app add column valid_from timestamptz;
