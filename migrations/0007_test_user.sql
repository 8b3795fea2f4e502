-- For each shard.
-- A person whom the developers of an app have made to try it: the app's key. Such people use that app alone.
alter table user_profile add column test_of text;
create index user_profile_test_of on user_profile (test_of) where test_of is not null;
