-- A pushed request belongs to the browser that opens it first: a mark of that browser, hashed. It may come back until the
-- request is answered, which deletes the row.
alter table pushed_request add column opened_by bytea;
