-- Traffic is searched by order and refund: both stand near the beginning of a body, whatever else is wrong with it.
-- Those of notices are not partial: a condition would search each body once more, on the hot path.
create index notice_order on notice
  (partner_id, (substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})')), received_at);
create index rejected_call_order on rejected_call
  (partner_id, (substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})')), received_at)
  where substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})') is not null;
create index notice_refund on notice
  (partner_id, (substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')), received_at);
create index rejected_call_refund on rejected_call
  (partner_id, (substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')), received_at)
  where substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') is not null;
create index partner_call_refund on partner_call
  (partner_id, (substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')), started_at)
  where substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') is not null;

create or replace view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure, failure_detail as detail,
  http_status as status, code, duration_ms, true as verified, null::int as left_out, '' as warnings,
  order_id, url, request_headers, request_body, response_headers, response_body,
  forged, verdict, coalesce(verdict = 'failed', failure is not null) as failed,
  substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id
from partner_call;

create or replace view sandbox_accepted as
select 'notice' as kind, notice_id as id, partner_id, received_at as at, path as name, null::text as failure,
  null::text as detail, null::int as status, 200 as code, null::int as duration_ms, true as verified,
  null::int as left_out, warnings, null::jsonb as headers, body, answer, null::text as reason,
  null::text as forged, null::text as verdict, false as failed,
  substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})') as order_id,
  substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id
from notice;

-- Calls to paths that do not exist are kept among the refused ones; they were answered with code and HTTP status 404.
create or replace view sandbox_refused as
select 'rejected' as kind, call_id as id, partner_id, received_at as at, path as name, 'rejected' as failure,
  reason as detail, case when answer like '{"code":404,%' then 404 end as status,
  case when answer like '{"code":400,%' then 400 when answer like '{"code":404,%' then 404 else 300 end as code,
  null::int as duration_ms, verified, left_out, '' as warnings, headers, body, answer, reason,
  null::text as forged, null::text as verdict, true as failed,
  substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})') as order_id,
  substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') as refund_id
from rejected_call;
