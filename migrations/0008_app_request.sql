-- What a team asks operators for: that its app goes live, or that a live one changes what people are shown of it.
create table app_request (
  request_id uuid primary key,
  app_key    text not null references micro_app on delete cascade,
  kind       text not null check (kind in ('live', 'change')),
  asked      jsonb not null,  -- the fields as they are to become
  state      text not null check (state in ('open', 'returned', 'approved', 'refused', 'withdrawn')),
  asked_at   timestamptz not null,
  decided_at timestamptz,
  remark     text             -- of the operator, for the team
);
create unique index app_request_open on app_request (app_key) where state = 'open';
create index app_request_asked on app_request (state, asked_at);
create index app_request_app on app_request (app_key, asked_at);
create index app_request_decided on app_request (decided_at) where decided_at is not null;
