-- An attempt that could not test what its step is there for; its outcome is 'failed'.
alter table sandbox_attempt add column nothing_tested boolean not null default false;
