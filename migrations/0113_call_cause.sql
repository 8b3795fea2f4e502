-- Why a call to a partner was made: a notice of a kind (cause_ref), a schedule, an operator, a step of the test run, …
-- Null: made before this was kept.
alter table partner_call add column cause text, add column cause_ref text;

-- The kind of the newest notice that made a pull due. Null: made due before this was kept.
alter table pull_due add column notice text;

create or replace view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure, failure_detail as detail,
  http_status as status, code, duration_ms, true as verified, null::int as left_out, '' as warnings,
  order_id, url, request_headers, request_body, response_headers, response_body,
  forged, verdict, coalesce(verdict = 'failed', failure is not null) as failed,
  substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id, arrival, cause, cause_ref
from partner_call;

create or replace view sandbox_accepted as
select 'notice' as kind, notice_id as id, partner_id, received_at as at, path as name, null::text as failure,
  null::text as detail, null::int as status, 200 as code, null::int as duration_ms, true as verified,
  null::int as left_out, warnings, null::jsonb as headers, body, answer, null::text as reason,
  null::text as forged, null::text as verdict, false as failed,
  order_id, refund_id, arrival, null::text as method, null::text as cause, null::text as cause_ref
from notice;

create or replace view sandbox_refused as
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
