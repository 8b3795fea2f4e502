-- When the TLS certificates of partners end, as the handshakes of our calls have shown it.
create table partner_certificate (
  partner_id bigint not null,
  -- Of the called URL: https://api.example.com:8443
  origin text not null,
  ends_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (partner_id, origin)
);
create index partner_certificate_end on partner_certificate (ends_at);
create index partner_certificate_age on partner_certificate (seen_at);
