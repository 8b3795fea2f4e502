-- Calls whose body was written by the seller on the page Play. Test steps must not take them for their own.
alter table partner_call add column by_hand boolean not null default false;
