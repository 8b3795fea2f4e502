-- The sandbox: test runs of partners, the reports that prove them, and what its pages show.

-- A test run: what was chosen, every attempt at a step, and every line of its log.
create table sandbox_run (
  run_id        uuid primary key,
  partner_id    bigint not null references partner on delete cascade,
  number        int not null,           -- 1, 2, … of this partner
  choice        jsonb not null,         -- see src/sandbox/test-plan/choice.ts
  current_step  text,                   -- the step that a person stands at; null once the last one was left
  last_seq      int not null default 0, -- of its events
  created_at    timestamptz not null,
  open_attempt  uuid,                   -- being made; decides, under the row's lock, who may write lines
  superseded_at timestamptz,            -- by a re-test
  passed_at     timestamptz,
  steps         text[] not null default '{}', -- that it began with, in order: steps added later are for later runs
  unique (partner_id, number)
);
create unique index sandbox_run_present on sandbox_run (partner_id) where superseded_at is null;
create unique index sandbox_run_open_attempt on sandbox_run (open_attempt) where open_attempt is not null;

create table sandbox_attempt (
  attempt_id     uuid primary key,
  run_id         uuid not null references sandbox_run on delete cascade,
  step_id        text not null,
  number         int not null, -- 1, 2, … at this step
  started_at     timestamptz not null,
  alive_till     timestamptz not null, -- put off while its process lives; an open attempt past it was interrupted
  ended_at       timestamptz,
  outcome        text check (outcome in ('passed', 'failed', 'not_tested', 'interrupted')),
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

-- The report that proves that an integration has passed.
create table sandbox_report (
  run_id     uuid primary key references sandbox_run on delete cascade,
  report_id  text not null unique, -- 128 random bits: who knows it may read the report
  content    text not null,        -- canonical JSON (RFC 8785), to the byte what was signed
  signature  text not null,        -- Ed25519, base64url
  key_id     text not null,        -- RFC 7638 thumbprint of the key
  created_at timestamptz not null
);

-- Public keys of reports that were signed before SECRET_KEY was replaced: they stay verifiable.
create table former_report_key (
  kid      text primary key,
  x        text not null, -- of the JWK (RFC 8037)
  ended_at timestamptz not null
);

-- Who is told that an integration has passed. One row a contact and channel; what the message says stands in it, so
-- that a repeated one is the same.
create table sandbox_notification (
  notification_id uuid primary key,     -- also Message-ID and webhook-id
  run_id          uuid not null references sandbox_run on delete cascade,
  partner_id      bigint not null,
  role            text not null check (role in ('product', 'business')),
  channel         text not null check (channel in ('mail', 'webhook')),
  name            text not null,
  address         text not null,        -- of mail, or the webhook's URL
  facts           jsonb not null,       -- see src/sandbox/portal/notify/wire.ts
  state           text not null check (state in ('waiting', 'sent', 'failed')),
  attempts        int not null default 0,
  last_error      text,                 -- for the partner to read
  created_at      timestamptz not null,
  waiting_since   timestamptz not null, -- a day later it is given up
  sent_at         timestamptz,
  unique (run_id, role, channel),
  check ((sent_at is not null) = (state = 'sent'))
);

-- How often the links to a run were withdrawn: a link opens it only while the number is the one that it was made with.
create table sandbox_withdrawn_link (
  run_id uuid primary key references sandbox_run on delete cascade,
  times  int not null
);

-- Who works in the sandbox. A session is a member's, or, as long as nobody has joined, was opened with a clientSecret,
-- whose id it is bound to: it ends with that secret.
create table sandbox_session (
  session_hash       bytea primary key, -- keyed hash of the cookie's value
  partner_id         bigint not null references partner on delete cascade,
  secret_id          uuid references partner_secret on delete cascade,
  created_at         timestamptz not null,
  expires_at         timestamptz not null,
  member_id          uuid references partner_member on delete cascade,
  credential_version int,
  constraint sandbox_session_of_one
    check ((secret_id is null) = (member_id is not null) and (member_id is null) = (credential_version is null))
);
create index sandbox_session_partner on sandbox_session (partner_id);
create index sandbox_session_secret on sandbox_session (secret_id);
create index sandbox_session_member on sandbox_session (member_id);
create index sandbox_session_expiry on sandbox_session (expires_at);

-- Views: what the sandbox shows of other rooms' tables.

-- A session of a clientSecret is over once somebody has joined, also if that member is removed again.
create view sandbox_signed_in as
select s.session_hash, s.expires_at, p.partner_id, p.client_id, p.name, x.ends_at as secret_ends_at,
  m.member_id, m.mail as member_mail, m.role as member_role
from sandbox_session s
join partner p using (partner_id)
left join partner_secret x using (secret_id)
left join partner_member m using (member_id)
where p.status = 'active' and case
  when s.member_id is not null then m.removed_at is null and m.credential_version = s.credential_version
  else not exists (
    select 1 from partner_member j
    where j.partner_id = s.partner_id and j.joined_at is not null
      and (j.removed_at is null or j.joined_at >= s.created_at)
  )
end;

-- The traffic of a partner: our calls, its notices, and its calls that were refused.
create view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure,
  failure_detail as detail, http_status as status, code, duration_ms, true as verified, null::int as left_out,
  '' as warnings,
  order_id, url, request_headers, request_body, response_headers, response_body,
  forged, verdict, coalesce(verdict = 'failed', failure is not null) as failed,
  substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id, arrival, cause, cause_ref
from partner_call;

create view sandbox_accepted as
select 'notice' as kind, notice_id as id, partner_id, received_at as at, path as name, null::text as failure,
  null::jsonb as detail, null::int as status, 200 as code, null::int as duration_ms, true as verified,
  null::int as left_out, warnings, null::jsonb as headers, body, answer, null::jsonb as reason,
  null::text as forged, null::text as verdict, false as failed,
  order_id, refund_id, arrival, null::text as method, null::text as cause, null::text as cause_ref
from notice;

-- A wrong path was answered with code and HTTP status 404, a wrong method with HTTP status 405.
create view sandbox_refused as
select 'rejected' as kind, call_id as id, partner_id, received_at as at, path as name, 'rejected' as failure,
  reason as detail,
  case when answer like '{"code":404,%' then 404 when answer like '{"code":_00,"describe":"method not allowed%' then 405
    end as status,
  case when answer like '{"code":400,%' then 400 when answer like '{"code":404,%' then 404 else 300 end as code,
  null::int as duration_ms, verified, left_out, '' as warnings, headers, body, answer, reason,
  null::text as forged, null::text as verdict, true as failed,
  substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})') as order_id,
  substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id, arrival, method,
  null::text as cause, null::text as cause_ref
from rejected_call;
