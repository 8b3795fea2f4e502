-- Which owner sent an invitation (member_id), since it counts only while they are one; null: operators, a clientSecret,
-- and invitations of before.
alter table team_invitation add column invited_by uuid;
alter table member_link add column invited_by uuid;
