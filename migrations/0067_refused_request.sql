-- Requests of area A and of the standard dialect that were refused, for operators to look up; kept 30 days, bounded for
-- each app and day. Nothing of what was sent but the names of its parameters and the beginning of a token.
create table refused_request (
  routing_key int not null,       -- 0 where it is not known whose data it was about
  request_id  uuid not null,      -- X-Request-Id of the answer
  at          timestamptz not null,
  endpoint    text not null,      -- A1 to A5, or the path
  method      text not null,
  status      int not null,
  rescode     int not null,
  failure     text,               -- its name in the table of failures; null where a request could not be read, or we failed
  detail      text,
  parameters  text not null,      -- names, between spaces
  app_key     text,               -- of an app that exists
  proved      boolean not null,   -- whether the caller showed that it is that app; otherwise it only said so
  token       text,               -- its first 17 characters
  cid         int,                -- whose data it was about, where the token says so
  user_id     text,
  primary key (routing_key, request_id)
);
create index refused_request_id on refused_request (request_id);
create index refused_request_at on refused_request (at);
create index refused_request_app on refused_request (app_key, at) where app_key is not null;
create index refused_request_token on refused_request (token, at) where token is not null;
create index refused_request_user on refused_request (routing_key, cid, user_id, at) where user_id is not null;
