-- Whether a refused call proved to come from its partner: signed with a live clientSecret, under a Date of that time.
-- Anybody can send the others; rows of before this column was there count as such.
alter table rejected_call add column verified boolean not null default false;
