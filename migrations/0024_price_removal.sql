-- Calendars of prices most of which a partner has taken away: done only once it has said the same again a while later.
create table price_removal (
  partner_id      bigint not null,
  partner_deal_id text not null,
  level           boolean not null, -- of level price calendars
  digest          bytea not null,   -- SHA-256 of the days asked for and of what is left
  said_at         timestamptz not null,
  primary key (partner_id, partner_deal_id, level),
  foreign key (partner_id, partner_deal_id) references product on delete cascade
);
