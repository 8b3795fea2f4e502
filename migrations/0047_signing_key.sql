-- Keys that sign id_tokens. A key is published from created_at to published_until and signs from signs_from to signs_until.
create table signing_key (
  kid             text primary key,
  alg             text not null check (alg in ('RS256', 'ES256')),
  public_jwk      jsonb not null,
  sealed          bytea not null, -- the private JWK
  created_at      timestamptz not null,
  signs_from      timestamptz not null,
  signs_until     timestamptz,    -- null: until a successor signs
  published_until timestamptz
);
create index signing_key_published on signing_key (published_until);
