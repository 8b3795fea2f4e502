-- What a refused request had in the parameter that it was refused for, to be shown beside what is registered. Rows of before,
-- and those of other failures, have none.
alter table refused_request add column received jsonb;
