-- A call that a test step makes: how it is forged on purpose (null: it is not), and what the step made of the answer.
-- Without a verdict, a call has failed if it has a failure.
alter table partner_call add column forged text, add column verdict text;

drop index partner_call_failed;
create index partner_call_failed on partner_call (partner_id, started_at)
  where coalesce(verdict = 'failed', failure is not null);

create or replace view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure, failure_detail as detail,
  http_status as status, code, duration_ms, true as verified, null::int as left_out, '' as warnings,
  order_id, url, request_headers, request_body, response_headers, response_body,
  forged, verdict, coalesce(verdict = 'failed', failure is not null) as failed
from partner_call;

create or replace view sandbox_accepted as
select 'notice' as kind, notice_id as id, partner_id, received_at as at, path as name, null::text as failure,
  null::text as detail, null::int as status, 200 as code, null::int as duration_ms, true as verified,
  null::int as left_out, warnings, null::jsonb as headers, body, answer, null::text as reason,
  null::text as forged, null::text as verdict, false as failed
from notice;

create or replace view sandbox_refused as
select 'rejected' as kind, call_id as id, partner_id, received_at as at, path as name, 'rejected' as failure,
  reason as detail, null::int as status, case when answer like '{"code":400,%' then 400 else 300 end as code,
  null::int as duration_ms, verified, left_out, '' as warnings, headers, body, answer, reason,
  null::text as forged, null::text as verdict, true as failed
from rejected_call;
