-- What the console shows of 24 hours and 30 days: requests, and failures by app and by partner, an hour a row. Processes
-- count in memory and add what they have counted once a minute.
create table activity_hour (
  hour timestamptz not null,
  kind text not null check (kind in ('requests', 'app', 'call', 'notice')),
  subject text not null,
  total bigint not null,
  refused bigint not null,
  failed bigint not null,
  primary key (hour, kind, subject)
);
