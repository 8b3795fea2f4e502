-- Look-ups by key are written into the statements; no release in the field calls these any more. Sharded engines refuse
-- functions over tables of users.
drop function grant_by_key(int, uuid);
drop function user_by_key(int, int, text);
drop function failed_attempt_by_key(bytea);
