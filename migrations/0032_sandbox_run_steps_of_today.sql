-- Runs that are there already get the steps that their choice has today.
update sandbox_run set steps = (
  select array_agg(step.id order by step.position)
  from (values
    (1, 'heartbeat', 'heartbeat'),
    (2, 'product-pull', 'product-pull'),
    (3, 'wrong-signature', null),
    (4, 'stale-date', null),
    (5, 'unknown-client', null),
    (6, 'poi-pull', 'poi-pull'),
    (7, 'product-change', 'product-change'),
    (8, 'price-calendar', 'price-calendar'),
    (9, 'level-price-calendar', 'level-price-calendar'),
    (10, 'order-create', null),
    (11, 'order-create-again', null),
    (12, 'sold-out', 'sold-out'),
    (13, 'order-pay', 'pay-at-once'),
    (14, 'order-pay-later', 'pay-later'),
    (15, 'order-pay-again', null),
    (16, 'order-query', null),
    (17, 'consumption', null),
    (18, 'refund-at-once', 'refund-at-once'),
    (19, 'refund-after-review', 'refund-after-review'),
    (20, 'refund-notice', 'refund-after-review'),
    (21, 'refund-again', null),
    (22, 'order-close', 'order-close'),
    (23, 'order-close-again', 'order-close'),
    (24, 'order-reschedule', 'order-reschedule'),
    (25, 'refunded-message', 'refunded-message'),
    (26, 'balance-query', 'balance-query'),
    (27, 'product-status', 'product-status')
  ) as step (position, id, needs)
  where step.needs is null or sandbox_run.choice -> 'functions' ? step.needs
);
