-- In a transaction of its own: notices go on being received meanwhile. What the last release still receives during an upgrade
-- has no ids, and is found in the list but not by order or refund.
update notice set
  order_id = substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})'),
  refund_id = substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')
where body like '%"orderId"%' or body like '%"refundId"%';
