-- Products and orders as the platform knows them, and every change of them with its cause.

create table product (
  partner_id      bigint not null references partner,
  partner_deal_id text not null,
  mt_deal_id      bigint generated always as identity (start with 100001) unique, -- the platform's own id of it
  sale_state      text not null check (sale_state in ('unknown', 'on_sale', 'off_sale')),
  title           text,
  details         jsonb, -- the whole entry as the partner sent it
  pulled_at       timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (partner_id, partner_deal_id)
);

create table product_price (
  partner_id          bigint not null,
  partner_deal_id     text not null,
  price_date          date not null,
  partner_primary_key text not null default '', -- of level price calendars
  market_price        numeric(12, 2),
  mt_price            numeric(12, 2),
  settlement_price    numeric(12, 2),
  stock               int not null, -- -1 unlimited
  details             jsonb not null,
  pulled_at           timestamptz not null,
  primary key (partner_id, partner_deal_id, price_date, partner_primary_key),
  foreign key (partner_id, partner_deal_id) references product on delete cascade
);

create table ticket_order (
  order_id          bigint primary key,
  partner_id        bigint not null references partner,
  partner_deal_id   text not null,
  partner_order_id  text,
  sandbox           boolean not null default false,
  state             text not null,            -- one of ORDER_STATES in src/ticketing/orders/states.ts
  state_since       timestamptz not null,
  revision          int not null default 0,   -- counts the states, so that a late answer cannot decide about a newer one
  last_code         int,                      -- what the partner answered to the last create or pay
  last_describe     text,
  vouchers_open     boolean not null default false, -- paid, and the answer that names its vouchers is not read yet
  close_type        int,                      -- of order close: where an order goes back to that cannot be closed
  quantity          int not null check (quantity > 0),
  used_quantity     int not null default 0 check (used_quantity >= 0),
  refunded_quantity int not null default 0 check (refunded_quantity >= 0),
  buy_price         numeric(12, 2) not null,
  unit_price        numeric(12, 2) not null,
  total_price       numeric(12, 2) not null,
  travel_date       date,
  request           jsonb not null, -- body of order create, sent again unchanged
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  check (used_quantity + refunded_quantity <= quantity)
);
create index ticket_order_partner on ticket_order (partner_id, created_at);

create table voucher (
  order_id   bigint not null references ticket_order on delete cascade,
  voucher    text not null,
  state      text not null check (state in ('unused', 'used', 'refunded', 'void')),
  quantity   int not null,
  picture    text,
  invalid_at text, -- Beijing local time as sent
  primary key (order_id, voucher)
);

create table refund (
  partner_id      bigint not null,
  refund_id       text not null, -- the platform's serial
  order_id        bigint not null references ticket_order,
  state           text not null, -- one of REFUND_STATES in src/ticketing/orders/states.ts
  refund_quantity int not null check (refund_quantity > 0),
  vouchers        text[] not null default '{}',
  refund_price    numeric(12, 2) not null,
  refund_fee      numeric(12, 2) not null,
  decision_code   int,
  reason          text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (partner_id, refund_id)
);
create index refund_order on refund (order_id);

create table record_change (
  change_id  bigint generated always as identity primary key,
  at         timestamptz not null,
  partner_id bigint not null,
  record     text not null check (record in ('product', 'order', 'voucher', 'refund')),
  record_id  text not null,
  order_id   bigint,
  cause      text not null check (cause in ('notice', 'call', 'operator', 'job')),
  cause_id   text,
  change     jsonb not null -- field → [before, after]
);
create index record_change_order on record_change (order_id, change_id);
create index record_change_record on record_change (partner_id, record, record_id, change_id);

-- Every call from the platform to a partner, secrets masked; the sandbox shows them.
create table partner_call (
  call_id          uuid primary key,
  call_number      bigint generated always as identity, -- tells calls of one moment apart
  partner_id       bigint not null,
  interface        text not null,
  order_id         bigint,
  started_at       timestamptz not null,
  duration_ms      int not null,
  url              text not null,
  request_headers  jsonb not null,
  request_body     text not null,
  http_status      int,
  response_headers jsonb,
  response_body    text,
  code             int,          -- the partner's
  failure          text,         -- kind: address, dns, tls, connect, timeout, …; null when the call succeeded
  failure_detail   text
);
create index partner_call_partner on partner_call (partner_id, started_at);
create index partner_call_order on partner_call (order_id, started_at);
