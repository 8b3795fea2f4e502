-- Teams are listed by their age, and found by the beginning of their name.
create index team_created on team (created_at, team_id);
create index team_name on team (lower(name) text_pattern_ops);
