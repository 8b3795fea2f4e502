-- Lists are read in pages (src/platform/db/page.ts), each order and each filter by an index. None of these columns changes where it is
-- hot: a user, a micro-app and a grant are written once, and so are the indexed columns of an order but for the partner's id.
create index user_profile_created on user_profile (created_at, cid, user_id);
create index user_profile_name on user_profile (lower(name) text_pattern_ops);
create index user_profile_phone on user_profile (phone_number text_pattern_ops) where phone_number is not null;
create index user_profile_blocked on user_profile (created_at, cid, user_id) where status = 'blocked';
create index user_credential_prefix on user_credential (passport text_pattern_ops);
create index micro_app_created on micro_app (created_at, app_key);
create index partner_created on partner (created_at, partner_id);
create index user_grant_of_app on user_grant (app_key, created_at, grant_id);
create index ticket_order_created on ticket_order (created_at, order_id);
create index ticket_order_partner_order on ticket_order (partner_order_id text_pattern_ops) where partner_order_id is not null;
