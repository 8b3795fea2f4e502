-- What the sandbox shows of other rooms' tables: the traffic of a partner, and who is signed in.
create view sandbox_outgoing as
select 'call' as kind, call_id as id, partner_id, started_at as at, interface as name, failure, failure_detail as detail,
  http_status as status, code, duration_ms, true as verified, null::int as left_out, '' as warnings,
  order_id, url, request_headers, request_body, response_headers, response_body
from partner_call;

create view sandbox_accepted as
select 'notice' as kind, notice_id as id, partner_id, received_at as at, path as name, null::text as failure,
  null::text as detail, null::int as status, 200 as code, null::int as duration_ms, true as verified,
  null::int as left_out, warnings, null::jsonb as headers, body, answer, null::text as reason
from notice;

create view sandbox_refused as
select 'rejected' as kind, call_id as id, partner_id, received_at as at, path as name, 'rejected' as failure,
  reason as detail, null::int as status, case when answer like '{"code":400,%' then 400 else 300 end as code,
  null::int as duration_ms, verified, left_out, '' as warnings, headers, body, answer, reason
from rejected_call;

create view sandbox_signed_in as
select s.session_hash, s.expires_at, p.partner_id, p.client_id, p.name, x.ends_at as secret_ends_at
from sandbox_session s
join partner p using (partner_id)
join partner_secret x using (secret_id)
where p.status = 'active';
