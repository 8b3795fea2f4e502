-- Why something was refused or failed is kept as an id with values ({"id", "values"}), or as a string of what somebody else
-- said. Rows from before are such strings.
alter table ticket_order
  alter column last_describe type jsonb using to_jsonb(last_describe),
  alter column contradiction type jsonb using to_jsonb(contradiction);
alter table refund alter column reason type jsonb using to_jsonb(reason);

-- The views over the other two columns are made again as they were.
drop view refused_notice, sandbox_outgoing, sandbox_accepted, sandbox_refused;
alter table partner_call alter column failure_detail type jsonb using to_jsonb(failure_detail);
alter table rejected_call alter column reason type jsonb using to_jsonb(reason);

create view refused_notice as
select call_id, partner_id, received_at, path, reason, body, verified,
  answer like '{"code":404,%' or answer like '{"code":_00,"describe":"method not allowed%' as wrong_path
from rejected_call where left_out is null;

create view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure, failure_detail as detail,
  http_status as status, code, duration_ms, true as verified, null::int as left_out, '' as warnings,
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
