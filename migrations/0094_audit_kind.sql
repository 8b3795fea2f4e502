-- What was done by operators, commands, apps, partners, jobs or the service. Users are most of the log: its order finds them.
create index audit_event_kind on audit_event (actor, at) where actor <> 'user';
