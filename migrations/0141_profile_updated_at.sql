-- When what apps are told of a person last changed. Null: not since the person was created.
alter table user_profile add column updated_at timestamptz;
