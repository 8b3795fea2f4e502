-- What partners have said has changed and is to be pulled from them: a row for each product and kind of pull, however often
-- it was said. One job a partner works through them.
create table pull_due (
  partner_id      bigint not null,
  partner_deal_id text not null,
  kind            text not null check (kind in ('product', 'prices')),
  notices         bigint not null default 1, -- counts them: what was said during a pull is pulled once more
  due_at          timestamptz not null,
  problem         text, -- why the pull was given up; null while it is due
  told            boolean not null default false, -- whether a failed job has told an operator of the problem
  primary key (partner_id, partner_deal_id, kind),
  foreign key (partner_id, partner_deal_id) references product on delete cascade
);
create index pull_due_next on pull_due (partner_id, due_at) where problem is null;
