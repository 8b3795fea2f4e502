-- The demo's rows: their passwords and secrets are in the README, so a service in production refuses to start with them.

alter table micro_app add column demo boolean not null default false;
alter table user_profile add column demo boolean not null default false;
alter table partner add column demo boolean not null default false;

-- Few of them among very many others.
create index micro_app_demo on micro_app (app_key) where demo;
create index user_profile_demo on user_profile (routing_key, cid, user_id) where demo;
create index partner_demo on partner (partner_id) where demo;

-- What earlier builds have put in.
update micro_app set demo = true
where (app_key, name) in
    (('demo-app', 'Sunny Day Trips'), ('demo-phone-only', 'Call Me Back'), ('demo-pending', 'Not Approved Yet'))
  or app_key in ('demo-app', 'demo-phone-only', 'demo-pending') and hosts = array['localhost', '127.0.0.1'];

update user_profile u set demo = true
from user_credential c
where (c.routing_key, c.cid, c.user_id) = (u.routing_key, u.cid, u.user_id)
  and (c.passport, c.cid, c.user_id, u.phone_number) in (
    ('alice', 1, '10001', '13800000001'), ('bob', 1, '10002', '13800000002'), ('mallory', 1, '10003', '13800000003'));

update partner set demo = true where partner_id = 7001 and client_id = 'demo-partner';
