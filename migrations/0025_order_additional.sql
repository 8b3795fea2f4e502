-- Lists that partners send beside the tickets of an order (voucherAdditionalList, orderAdditionalList), as they came: they
-- are shown, and nothing is decided by them. Few orders have any, so they are not columns of the order.
create table order_additional (
  order_id           bigint primary key references ticket_order on delete cascade,
  voucher_additional jsonb not null,
  order_additional   jsonb not null,
  left_out           int not null -- entries that were too many to be kept
);
