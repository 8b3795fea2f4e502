-- For each shard.
-- Whose session at the provider a session of ours began with, so that the provider can end it: SHA-256 of sub and of sid.
alter table browser_session
  add column upstream_sub bytea,
  add column upstream_sid bytea; -- null too where the provider does not say
create index browser_session_by_upstream_sub on browser_session (upstream_sub) where upstream_sub is not null;
create index browser_session_by_upstream_sid on browser_session (upstream_sid) where upstream_sid is not null;
