-- Pulls are numbered in the order in which partners were asked: an answer that was asked for earlier than what is stored is
-- not stored over it. A notice that brings prices has a number too.
create sequence pull_asked;
alter table product
  add column asked bigint not null default 0, -- of what is stored in details
  add column prices_asked bigint not null default 0; -- of the newest of its prices
