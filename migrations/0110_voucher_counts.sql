-- A code for several tickets is used and refunded in part, so its tickets are counted.
alter table voucher
  add column used_quantity int not null default 0,
  add column refunded_quantity int not null default 0;
-- The one code of an order stands for its tickets.
update voucher v set
  used_quantity = o.used_quantity,
  refunded_quantity = o.refunded_quantity,
  state = case
    when v.state = 'void' then 'void'
    when o.used_quantity + o.refunded_quantity < o.quantity then 'unused'
    when o.used_quantity > 0 then 'used'
    else 'refunded'
  end
from ticket_order o
where o.order_id = v.order_id and v.quantity > 1 and v.quantity = o.quantity
  and not exists (select 1 from voucher other where other.order_id = v.order_id and other.voucher <> v.voucher);
-- Of others only the end is known.
update voucher v set used_quantity = quantity
where state = 'used' and used_quantity + refunded_quantity = 0
  and (quantity = 1 or exists (select 1 from voucher other where other.order_id = v.order_id and other.voucher <> v.voucher));
update voucher v set refunded_quantity = quantity
where state = 'refunded' and used_quantity + refunded_quantity = 0
  and (quantity = 1 or exists (select 1 from voucher other where other.order_id = v.order_id and other.voucher <> v.voucher));
