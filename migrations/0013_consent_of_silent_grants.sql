-- For each shard.
-- When that was allowed which a grant without a consent page rests on; null of others.
alter table user_grant add column allowed_at timestamptz;
