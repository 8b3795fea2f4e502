-- What a request did, for whoever has its id from an answer or the log.
create index audit_event_request on audit_event (request_id, at) where request_id is not null;
