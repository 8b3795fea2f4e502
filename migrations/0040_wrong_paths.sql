-- Calls to paths that do not exist are kept among the refused ones; they were answered with code and HTTP status 404.
create or replace view sandbox_refused as
select 'rejected' as kind, call_id as id, partner_id, received_at as at, path as name, 'rejected' as failure,
  reason as detail, case when answer like '{"code":404,%' then 404 end as status,
  case when answer like '{"code":400,%' then 400 when answer like '{"code":404,%' then 404 else 300 end as code,
  null::int as duration_ms, verified, left_out, '' as warnings, headers, body, answer, reason,
  null::text as forged, null::text as verdict, true as failed
from rejected_call;
