-- By record the history is read of products alone: orders and vouchers, two rows of which come with each notice, need no
-- entry.
create index record_change_product on record_change (partner_id, record_id, change_id) where record = 'product';
drop index record_change_record;
