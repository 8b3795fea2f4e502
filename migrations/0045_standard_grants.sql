-- What an id_token says of the sign-in behind a grant. Null where the grant came of the contract's dialect.
alter table user_grant
  add column auth_time timestamptz, -- when the person last proved who they are
  add column nonce text,            -- of the authorization request
  add column sid text;              -- of the browser session
