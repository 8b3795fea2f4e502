-- The code of the seal before, kept with each seal: once old seals are purged, the first one that is left can still be
-- verified. Null only in seals that the release before this one makes while both run.
alter table audit_seal add column before_chain bytea;
update audit_seal s set before_chain = coalesce((select b.chain from audit_seal b where b.seal_no = s.seal_no - 1), '')
  where s.seal_no = 1 or exists (select from audit_seal b where b.seal_no = s.seal_no - 1);
