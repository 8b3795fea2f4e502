-- When a purge last came to its end, whichever process made it; for the alert about purges that do not come to theirs.
-- Before the first one it counts from here, so that an installation in which nothing purges is seen.
alter table installation add column purged_at timestamptz not null default now();
