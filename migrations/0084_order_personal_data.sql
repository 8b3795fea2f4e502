-- When the visitors' data of an order were removed. The index has those that still have theirs; neither of its columns
-- changes where an order is hot.
alter table ticket_order add column data_removed_at timestamptz;
create index ticket_order_personal_data on ticket_order (created_at) where data_removed_at is null;
