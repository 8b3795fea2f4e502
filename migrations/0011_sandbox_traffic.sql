-- The list of failed calls reads failures only: without this it goes through every call of a partner that has few.
create index partner_call_failed on partner_call (partner_id, started_at) where failure is not null;
