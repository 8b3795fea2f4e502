-- Apps are listed by the beginning of their key or name, whatever the collation of the database, and by their status.
create index micro_app_key_prefix on micro_app (app_key text_pattern_ops);
create index micro_app_name on micro_app (lower(name) text_pattern_ops);
create index micro_app_status on micro_app (status, created_at, app_key);
-- Few apps have pages of other origins, whose requests every process looks for every second.
create index micro_app_cors on micro_app (app_key) where cors_origins <> '{}';
