-- A session is a member's, or, as long as nobody has joined, was opened with a clientSecret.
alter table sandbox_session alter column secret_id drop not null;
alter table sandbox_session add column member_id uuid references partner_member on delete cascade;
alter table sandbox_session add column credential_version int;
alter table sandbox_session add constraint sandbox_session_of_one
  check ((secret_id is null) = (member_id is not null) and (member_id is null) = (credential_version is null));
create index sandbox_session_member on sandbox_session (member_id);

-- A session of a clientSecret is over once somebody has joined, also if that member is removed again.
create or replace view sandbox_signed_in as
select s.session_hash, s.expires_at, p.partner_id, p.client_id, p.name, x.ends_at as secret_ends_at,
  m.member_id, m.mail as member_mail, m.role as member_role
from sandbox_session s
join partner p using (partner_id)
left join partner_secret x using (secret_id)
left join partner_member m using (member_id)
where p.status = 'active' and case
  when s.member_id is not null then m.removed_at is null and m.credential_version = s.credential_version
  else not exists (
    select 1 from partner_member j
    where j.partner_id = s.partner_id and j.joined_at is not null
      and (j.removed_at is null or j.joined_at >= s.created_at)
  )
end;
