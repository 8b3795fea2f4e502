-- The orders of the sandbox are few among very many sold ones, and never become such.
create index ticket_order_sandbox on ticket_order (created_at, order_id) where sandbox;
-- An event that is to be sent again is found by its app and id.
create index app_event_id on app_event (app_key, event_id);
-- So that the list of failed calls is known to be short, and is read by its index.
create statistics partner_call_outcome on (coalesce(verdict = 'failed', failure is not null)) from partner_call;
