-- The failed checks of a run, for its warnings and reports. Nearly all of its lines are others.
create index sandbox_event_failed on sandbox_event (run_id, seq) where kind = 'check' and data->>'passed' = 'false';
