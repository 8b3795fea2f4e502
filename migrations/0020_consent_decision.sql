-- What was decided on a consent form first. One row decides, whichever processes are asked at once: who inserts it has
-- decided, everybody else is told what it says. Kept until the form is too old to be sent.
create table consent_decision (
  routing_key int not null,
  form_id     uuid not null, -- also the grant's, if it was approved
  decision    text not null check (decision in ('approve', 'refuse')),
  expires_at  timestamptz not null,
  primary key (routing_key, form_id)
);
create index consent_decision_expiry on consent_decision (expires_at);

-- Who did it: operator (admin API), cli (command line), app, user, partner, or system (the service by itself).
alter table audit_event add column actor text not null default 'system';
