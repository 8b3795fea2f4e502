-- Refused calls as the room of the notices reads them, beside those that it accepted. A wrong path was answered with 404.
create view refused_notice as
select call_id, partner_id, received_at, path, reason, body, verified, answer like '{"code":404,%' as wrong_path
from rejected_call where left_out is null;
