-- These rows are looked up by their keys. Joined, a plan made of small tables may do otherwise, and keep doing so while
-- they grow: read all failed attempts, or go through all grants or users that share a routing key. `offset 0` keeps the
-- look-up one, and costs nothing. PostgreSQL writes such a function out where it is used, as long as it is stable and
-- neither strict nor a security definer, and sets nothing.

create function grant_by_key(int, uuid) returns setof user_grant language sql stable as $$
  select * from user_grant where routing_key = $1 and grant_id = $2 offset 0
$$;

create function user_by_key(int, int, text) returns setof user_profile language sql stable as $$
  select * from user_profile where routing_key = $1 and cid = $2 and user_id = $3 offset 0
$$;

create function failed_attempt_by_key(bytea) returns setof failed_attempt language sql stable as $$
  select * from failed_attempt where subject = $1 offset 0
$$;
