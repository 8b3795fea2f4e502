-- Bodies that partners encrypt: one key a partner, sealed like a clientSecret (AES-256-GCM under a key derived from
-- SECRET_KEY). Whether our calls are encrypted is said apart: what a partner sends is read either way.
alter table partner
  add column aes_key        bytea,
  add column aes_key_set_at timestamptz,
  add column encrypts_calls boolean not null default false,
  add constraint partner_aes_key_dated check ((aes_key is null) = (aes_key_set_at is null)),
  add constraint partner_encrypts_with_key check (not encrypts_calls or aes_key is not null);
