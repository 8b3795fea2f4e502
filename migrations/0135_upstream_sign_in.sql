-- Sign-in at an OpenID provider of the platform (UPSTREAM_ISSUER): a browser that is on its way there and back.
create table upstream_flow (
  flow_hash    bytea primary key, -- of state, which works once
  browser_hash bytea not null,    -- of the browser's cookie
  purpose      text not null check (purpose in ('sign-in', 'sign-out')),
  go_on        text not null,     -- where the browser goes afterwards
  app          text not null,
  max_age      int,
  began_at     timestamptz not null,
  expires_at   timestamptz not null
);
create index upstream_flow_expiry on upstream_flow (expires_at);

-- What the provider said of a session; null in sessions that began here.
alter table browser_session
  add column from_upstream    boolean not null default false,
  add column authenticated_at timestamptz, -- null too where the provider does not say
  add column acr              text,
  add column id_token         bytea;       -- sealed; with it the provider knows its own session again
