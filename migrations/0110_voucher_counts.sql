-- A code for several tickets is used and refunded in part, so its tickets are counted. Of a code for one ticket the state
-- says all: its row is left alone.
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
  and (o.used_quantity + o.refunded_quantity > 0 or v.state in ('used', 'refunded'))
  and not exists (select 1 from voucher other where other.order_id = v.order_id and other.voucher <> v.voucher);
-- Of others a state may have been set with the first of their tickets. So what is certain is counted: refunds of that code
-- alone, and of the order's tickets those that its other codes cannot be for. When no ticket is left, the states hold.
update voucher v set
  used_quantity = t.used,
  refunded_quantity = t.refunded,
  state = case
    when v.state = 'void' then 'void'
    when t.used + t.refunded < v.quantity then 'unused'
    when t.used > 0 then 'used'
    else 'refunded'
  end
from (
  select order_id, voucher,
    case when nothing_left then most_used
      else greatest(0, least(most_used, order_used - sum(most_used) over of_order + most_used)) end as used,
    case when nothing_left then least(most_refunded, quantity - most_used)
      else greatest(alone, least(most_refunded, order_refunded - sum(most_refunded) over of_order + most_refunded))
    end as refunded
  from (
    select c.order_id, c.voucher, c.quantity, r.alone,
      o.used_quantity as order_used, o.refunded_quantity as order_refunded,
      o.used_quantity + o.refunded_quantity = o.quantity as nothing_left,
      case when c.state = 'used' then c.quantity - r.alone else 0 end as most_used,
      case when c.state = 'refunded' then c.quantity else r.named end as most_refunded
    from voucher c
    join ticket_order o on o.order_id = c.order_id
    cross join lateral (
      select least(c.quantity, coalesce(sum(refund_quantity), 0)) as named,
        least(c.quantity, coalesce(sum(refund_quantity) filter (where cardinality(vouchers) = 1), 0)) as alone
      from refund where refund.order_id = c.order_id and refund.state = 'refunded' and c.voucher = any (refund.vouchers)
    ) r
    where c.order_id in (select several.order_id from voucher several where several.quantity > 1)
      and (c.quantity <> o.quantity
        or exists (select 1 from voucher other where other.order_id = c.order_id and other.voucher <> c.voucher))
  ) m
  window of_order as (partition by order_id)
) t
where t.order_id = v.order_id and t.voucher = v.voucher and v.quantity > 1
  and (t.used + t.refunded > 0 or v.state in ('used', 'refunded'));
