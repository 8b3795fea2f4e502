-- A grant is looked up by its key, or all of a user's are. While both indexes led with the routing key, a plan made when
-- nearly every routing key had one grant could take the users' for the first and go through all grants that share the
-- routing key, and keep doing so while their number grew. Nothing looks for the grants of an app.
--
-- Dropped last: tokens are read while the new one is built.
create index user_grant_of_user on user_grant (user_id, cid, routing_key);
drop index user_grant_user;
drop index user_grant_app;
