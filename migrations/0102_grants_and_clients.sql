-- In the order in which requests lock these tables (src/authorization/resource/store.ts): the grant, then the app.
alter table user_grant
  add column acr text,                               -- of the sign-in, where the authorization request asked for it
  add column silent boolean not null default false;  -- of a request that showed no consent page

-- What micro-apps have to send: PKCE in A1 too, and assertions that are meant for the issuer alone.
alter table micro_app
  add column require_pkce_in_a1 boolean not null default false,
  add column issuer_aud_only boolean not null default false;

-- An app that authenticates by a key, or not at all, has no app_secret.
update micro_app_secret s set ends_at = now() from micro_app a
where a.app_key = s.app_key and (s.ends_at is null or s.ends_at > now()) and not a.token_auth_methods && '{client_secret_basic,client_secret_post}';

-- From now on signing keys stay for some time after they were published, to verify hints. Those that are no longer
-- published may have leaked: they verify none.
update signing_key set published_until = 'epoch' where published_until <= now();
