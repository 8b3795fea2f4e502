-- Refused calls as the room of the notices reads them, beside those that it accepted.
create view refused_notice as
select call_id, partner_id, received_at, path, reason, body, verified from rejected_call where left_out is null;
