-- Orders that a seller makes on the page Play, to try something. They are deleted with all that belongs to them.
alter table ticket_order add column delete_after timestamptz; -- null: an order that is kept
create index ticket_order_delete_after on ticket_order (delete_after) where delete_after is not null;
create index ticket_order_trial on ticket_order (partner_id, created_at) where delete_after is not null;

-- The key held before, so the rows need no second look.
alter table refund drop constraint refund_order_id_fkey,
  add constraint refund_order_id_fkey foreign key (order_id) references ticket_order on delete cascade not valid;
