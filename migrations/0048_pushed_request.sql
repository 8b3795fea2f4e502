-- Authorization requests that apps have pushed (RFC 9126). A request_uri is used once: whoever deletes the row has it.
create table pushed_request (
  request_hash bytea primary key,
  app_key      text not null,
  parameters   text not null, -- form-encoded, without credentials
  expires_at   timestamptz not null
);
create index pushed_request_expiry on pushed_request (expires_at);
