drop index notice_order;
drop index notice_refund;
create index notice_order on notice (partner_id, order_id, received_at) where order_id is not null;
create index notice_refund on notice (partner_id, refund_id, received_at) where refund_id is not null;
