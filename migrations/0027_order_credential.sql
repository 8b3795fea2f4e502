-- The documents of real-name orders with the codes that they open, as partners tell them with the tickets: a refund names
-- both. Few orders have any. voucher is '' where the document itself opens the gate.
create table order_credential (
  order_id        bigint not null references ticket_order on delete cascade,
  voucher         text not null,
  credential_no   text not null,
  credential_type int not null,
  primary key (order_id, voucher, credential_no)
);
