-- What an app is told of itself is about nobody: the columns of a person are empty, and the routing key is 0.
alter table app_event
  alter column cid drop not null,
  alter column user_id drop not null,
  alter column reason drop not null,
  alter column all_ended drop not null,
  add column detail jsonb,
  add column last_status int; -- of the last answer; null where there was none
-- The secret of before signs too, until its end.
alter table micro_app
  add column former_webhook_secret bytea,
  add column former_webhook_secret_ends_at timestamptz;
-- Whether the app was told that its secret ends soon.
alter table micro_app_secret add column end_told boolean not null default false;
create index micro_app_secret_end_untold on micro_app_secret (ends_at) where not end_told and ends_at is not null;
-- updated_at of the app as its team saw it when it asked.
alter table app_request add column based_on timestamptz;
-- What each app has done, a row a day (UTC, its beginning), kind and rescode; kept 90 days.
create table app_usage (
  app_key text not null,
  day     timestamptz not null,
  kind    text not null, -- authorization, exchange, refresh, read; refused; claimed: refused without proof that it was the app
  code    int not null,  -- the rescode of refusals, otherwise 0
  times   bigint not null,
  primary key (app_key, day, kind, code)
);
create index app_usage_day on app_usage (day);
