-- Which app has read which user's profile or phone number: a row a user, app, kind and hour (UTC).
create table data_access (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  hour        timestamptz not null,
  app_key     text not null,
  kind        text not null,        -- profile or phone
  reads       int not null,
  last_at     timestamptz not null,
  primary key (routing_key, cid, user_id, hour, app_key, kind)
);
create index data_access_hour on data_access (hour);
