-- A step of a test run that could not test what it is there for has neither passed nor failed.
alter table sandbox_attempt drop constraint sandbox_attempt_outcome_check;
alter table sandbox_attempt add constraint sandbox_attempt_outcome_check
  check (outcome in ('passed', 'failed', 'not_tested', 'interrupted'));
