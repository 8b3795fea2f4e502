-- SECRET_KEY can be replaced. Values are made with the key whose fingerprint `installation` holds, since `makes_since`
-- (null: since the beginning).
alter table installation add column makes_since timestamptz;

-- Fingerprint of the key that has hashed an app_secret, so that what an old key has hashed can be counted. Null in rows
-- that were made before the column was.
alter table micro_app_secret add column hashed_with bytea;

-- Public keys of reports that were signed before SECRET_KEY was replaced: they stay verifiable.
create table former_report_key (
  kid      text primary key,
  x        text not null, -- of the JWK (RFC 8037)
  ended_at timestamptz not null
);
