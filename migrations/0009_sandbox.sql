-- Test runs of partners in the sandbox: what was chosen, every attempt at a step, and every line of its log.

create table sandbox_run (
  run_id        uuid primary key,
  partner_id    bigint not null references partner on delete cascade,
  number        int not null,           -- 1, 2, … of this partner
  choice        jsonb not null,         -- see src/sandbox/test-plan/choice.ts
  current_step  text,                   -- the step that a person stands at; null once the last one was left
  last_seq      int not null default 0, -- of its events
  created_at    timestamptz not null,
  open_attempt  uuid,                   -- the one that is being made; decides, under the row's lock, who may write lines
  superseded_at timestamptz,            -- by a re-test
  passed_at     timestamptz,
  unique (partner_id, number)
);
create unique index sandbox_run_present on sandbox_run (partner_id) where superseded_at is null;
create unique index sandbox_run_open_attempt on sandbox_run (open_attempt) where open_attempt is not null;

create table sandbox_attempt (
  attempt_id uuid primary key,
  run_id     uuid not null references sandbox_run on delete cascade,
  step_id    text not null,
  number     int not null, -- 1, 2, … at this step
  started_at timestamptz not null,
  alive_till timestamptz not null, -- put off while its process lives; an open attempt past it was interrupted
  ended_at   timestamptz,
  outcome    text check (outcome in ('passed', 'failed', 'interrupted')),
  check ((ended_at is null) = (outcome is null)),
  unique (run_id, step_id, number)
);
-- One at a time, however often Start is pressed.
create unique index sandbox_attempt_open on sandbox_attempt (run_id) where ended_at is null;

-- The log. Numbers are given under the lock of the run's row, so whoever has read up to N has missed nothing.
create table sandbox_event (
  run_id     uuid not null references sandbox_run on delete cascade,
  seq        int not null,
  attempt_id uuid not null references sandbox_attempt on delete cascade,
  at         timestamptz not null,
  kind       text not null, -- one of the kinds in src/sandbox/certification/event.ts
  data       jsonb not null,
  primary key (run_id, seq)
);
create index sandbox_event_attempt on sandbox_event (attempt_id, seq);

-- Orders of a run. Only these count in its acceptance; none of them is ever a live one.
create table sandbox_order (
  order_id   bigint primary key,
  run_id     uuid not null references sandbox_run on delete cascade,
  role       text not null, -- what it is for: main, later, refund, …
  created_at timestamptz not null
);
create index sandbox_order_run on sandbox_order (run_id, role, created_at);
