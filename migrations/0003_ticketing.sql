-- Area B: ticket sellers that are integrated over signed calls, their products, and the orders placed with them.
--
-- Why something was refused or failed is kept as an id with values ({"id", "values"}), or as a string of what somebody
-- else said.

create table partner (
  partner_id      bigint primary key,
  client_id       text not null unique,
  name            text not null,
  status          text not null check (status in ('active', 'suspended')),
  stage           text not null check (stage in ('sandbox', 'live')),
  base_url        text,                        -- interfaces are found under it by their default paths
  interface_urls  jsonb not null default '{}', -- interface name → URL, where it is not the default
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  demo            boolean not null default false, -- its secrets are in the README: production refuses to start with it
  -- Bodies that the partner encrypts: one key, sealed like a clientSecret. Whether our calls are encrypted is said
  -- apart: what the partner sends is read either way.
  aes_key         bytea,
  aes_key_set_at  timestamptz,
  encrypts_calls  boolean not null default false,
  check (client_id <> ''),
  constraint partner_aes_key_dated check ((aes_key is null) = (aes_key_set_at is null)),
  constraint partner_encrypts_with_key check (not encrypts_calls or aes_key is not null)
);
create index partner_created on partner (created_at, partner_id);
create index partner_demo on partner (partner_id) where demo;

-- clientSecrets must be readable to sign with: AES-256-GCM under a key derived from SECRET_KEY. Two live at once while
-- one is rotated; exactly one signs our calls, and moves only when an operator says so.
create table partner_secret (
  secret_id    uuid primary key,
  partner_id   bigint not null references partner on delete cascade,
  sealed       bytea not null,
  signs        boolean not null,
  overlap_s    int not null default 0, -- set at rotation: how long the one before still works once this one signs
  created_at   timestamptz not null,
  ends_at      timestamptz,
  last_used_at timestamptz
);
create index partner_secret_partner on partner_secret (partner_id);
create unique index partner_secret_signing on partner_secret (partner_id) where signs;

create table partner_contact (
  partner_id     bigint not null references partner on delete cascade,
  role           text not null check (role in ('product', 'business')),
  name           text not null,
  mail           text not null,
  webhook_url    text,
  webhook_secret bytea, -- what signs the calls to the webhook, sealed like a clientSecret
  primary key (partner_id, role),
  constraint partner_contact_signs_webhook check ((webhook_url is null) = (webhook_secret is null))
);

-- The people of a partner who sign in to the sandbox by themselves.
create table partner_member (
  member_id          uuid primary key,
  partner_id         bigint not null references partner on delete cascade,
  mail               text not null,          -- as it was typed: mails go there
  mail_key           text not null,          -- in lower case
  role               text not null check (role in ('owner', 'developer')),
  password_hash      text,                   -- argon2id
  credential_version int not null default 0, -- sessions that were opened under an older one are over
  invited_at         timestamptz not null,
  joined_at          timestamptz,            -- when the first password was set
  removed_at         timestamptz,
  check (password_hash is null or joined_at is not null)
);
create unique index partner_member_mail on partner_member (partner_id, mail_key) where removed_at is null;
create index partner_member_partner on partner_member (partner_id);
create index partner_member_removed on partner_member (removed_at) where removed_at is not null;

-- Links that are sent to members by mail, each to be used once: to join, or to set a new password.
create table member_link (
  link_id    uuid primary key,      -- also the mail's Message-ID
  link_hash  bytea not null unique, -- keyed hash of the link's token
  member_id  uuid not null references partner_member on delete cascade,
  purpose    text not null check (purpose in ('invitation', 'password')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  mail_state text not null check (mail_state in ('waiting', 'sent', 'failed')),
  mail_error text                   -- for the partner's owners to read
);
create index member_link_member on member_link (member_id);
create index member_link_expiry on member_link (expires_at);

-- Partners that a process does not call at the moment, because its last calls failed; for operators, who ask any
-- process.
create table partner_circuit (
  partner_id bigint not null,
  process    uuid not null, -- whose circuit breaker is open; made anew at each start
  opened_at  timestamptz not null,
  retry_at   timestamptz not null,
  primary key (partner_id, process)
);
create index partner_circuit_retry on partner_circuit (retry_at);

-- When the TLS certificates of partners end, as the handshakes of our calls have shown it.
create table partner_certificate (
  partner_id bigint not null,
  origin     text not null, -- of the called URL: https://api.example.com:8443
  ends_at    timestamptz not null,
  seen_at    timestamptz not null,
  primary key (partner_id, origin)
);
create index partner_certificate_end on partner_certificate (ends_at);
create index partner_certificate_age on partner_certificate (seen_at);

-- Calls in both directions are counted in one sequence, which tells those of one moment apart.
create sequence call_arrival;

-- Every call from the platform to a partner, secrets masked; the sandbox shows them.
create table partner_call (
  call_id          uuid primary key,
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
  code             int,   -- the partner's
  failure          text,  -- kind: address, dns, tls, connect, timeout, …; null when the call succeeded
  failure_detail   jsonb,
  forged           text,  -- how a test step forges it on purpose; null: it is not forged
  verdict          text,  -- what the test step made of the answer; without one a call has failed if it has a failure
  by_hand          boolean not null default false, -- the seller wrote its body (page Play): no test step takes it
  arrival          bigint not null default nextval('call_arrival'),
  cause            text not null, -- a notice of a kind (cause_ref), a schedule, an operator, a step, …
  cause_ref        text
);
create index partner_call_partner on partner_call (partner_id, started_at);
create index partner_call_order on partner_call (order_id, started_at);
create index partner_call_age on partner_call (started_at);
-- The list of failed calls reads failures only: otherwise it goes through every call of a partner that has few.
create index partner_call_failed on partner_call (partner_id, started_at)
  where coalesce(verdict = 'failed', failure is not null);
-- Traffic is searched by order and refund: both stand near the beginning of a body, whatever else is wrong with it.
create index partner_call_refund on partner_call
  (partner_id, (substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')), started_at)
  where substring(left(request_body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') is not null;

-- Catalogue: products and price calendars as they were pulled from partners.
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

-- What partners have said has changed and is to be pulled from them: a row for each product and kind of pull, however
-- often it was said. One job a partner works through them.
create table pull_due (
  partner_id      bigint not null,
  partner_deal_id text not null,
  kind            text not null check (kind in ('product', 'prices')),
  notices         bigint not null default 1, -- counts them: what was said during a pull is pulled once more
  due_at          timestamptz not null,
  problem         text, -- why the pull was given up; null while it is due
  told            boolean not null default false, -- whether a failed job has told an operator of the problem
  notice          text not null, -- the kind of the newest notice that made it due
  primary key (partner_id, partner_deal_id, kind),
  foreign key (partner_id, partner_deal_id) references product on delete cascade
);
create index pull_due_next on pull_due (partner_id, due_at) where problem is null;

-- Orders are updated several times. With some room on the page an update stays there, and no index has to be touched
-- (HOT); in between, the room of outdated versions is used again.
create table ticket_order (
  order_id          bigint primary key,
  partner_id        bigint not null references partner,
  partner_deal_id   text not null,
  partner_order_id  text,
  sandbox           boolean not null default false,
  state             text not null,            -- one of ORDER_STATES in src/ticketing/orders/states.ts
  state_since       timestamptz not null,
  revision          int not null default 0,   -- counts the states: a late answer must not decide about a newer one
  last_code         int,                      -- what the partner answered to the last create or pay
  last_describe     jsonb,
  vouchers_open     boolean not null default false, -- paid, and the answer that names its vouchers is not read yet
  close_type        int,                      -- of order close: where an order goes back to that cannot be closed
  quantity          int not null check (quantity > 0),
  used_quantity     int not null default 0 check (used_quantity >= 0),
  refunded_quantity int not null default 0 check (refunded_quantity >= 0),
  buy_price         numeric(12, 2) not null,
  unit_price        numeric(12, 2) not null,
  total_price       numeric(12, 2) not null,
  travel_date       date,
  request           jsonb not null,           -- body of order create, sent again unchanged
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  delete_after      timestamptz,              -- of an order of the page Play; null: an order that is kept
  data_removed_at   timestamptz,              -- when the visitors' data were removed
  contradiction     jsonb,                    -- what the last answer to order query says and our records do not
  check (used_quantity + refunded_quantity <= quantity)
) with (fillfactor = 70);
create index ticket_order_created on ticket_order (created_at, order_id);
create index ticket_order_partner on ticket_order (partner_id, created_at);
create index ticket_order_partner_order on ticket_order (partner_order_id text_pattern_ops)
  where partner_order_id is not null;
create index ticket_order_delete_after on ticket_order (delete_after) where delete_after is not null;
create index ticket_order_trial on ticket_order (partner_id, created_at) where delete_after is not null;
create index ticket_order_personal_data on ticket_order (created_at) where data_removed_at is null;

-- A code for several tickets is used and refunded in part, so its tickets are counted; the state says all of a code for
-- one. Room on the page for the one update that is known to come.
create table voucher (
  order_id          bigint not null references ticket_order on delete cascade,
  voucher           text not null,
  state             text not null check (state in ('unused', 'used', 'refunded', 'void')),
  quantity          int not null,
  picture           text,
  invalid_at        text, -- Beijing local time as sent
  used_quantity     int not null default 0,
  refunded_quantity int not null default 0,
  primary key (order_id, voucher)
) with (fillfactor = 45);

create table refund (
  partner_id      bigint not null,
  refund_id       text not null, -- the platform's serial
  order_id        bigint not null references ticket_order on delete cascade,
  state           text not null, -- one of REFUND_STATES in src/ticketing/orders/states.ts
  refund_quantity int not null check (refund_quantity > 0),
  vouchers        text[] not null default '{}',
  refund_price    numeric(12, 2) not null,
  refund_fee      numeric(12, 2) not null,
  decision_code   int,
  reason          jsonb,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (partner_id, refund_id)
);
create index refund_order on refund (order_id);

-- Lists that partners send beside the tickets of an order (voucherAdditionalList, orderAdditionalList), as they came:
-- they are shown, and nothing is decided by them. Few orders have any, so they are not columns of the order.
create table order_additional (
  order_id           bigint primary key references ticket_order on delete cascade,
  voucher_additional jsonb not null,
  order_additional   jsonb not null,
  left_out           int not null -- entries that were too many to be kept
);

-- The documents of real-name orders with the codes that they open, as partners tell them with the tickets: a refund
-- names both. Few orders have any. voucher is '' where the document itself opens the gate.
create table order_credential (
  order_id        bigint not null references ticket_order on delete cascade,
  voucher         text not null,
  credential_no   text not null,
  credential_type int not null,
  primary key (order_id, voucher, credential_no)
);

-- Notices that were accepted, each with the answer it got: the same notice again gets the same answer. The ids by which
-- they are searched are read once, when a notice is received: an index on an expression would search each body twice,
-- on the hot path.
create table notice (
  client_id   text not null,
  path        text not null,
  body_hash   bytea not null, -- SHA-256
  notice_id   uuid not null unique,
  partner_id  bigint not null,
  received_at timestamptz not null,
  body        text not null,  -- as received
  answer      text not null,
  warnings    text not null default '', -- what it was taken with all the same: names with spaces between them
  arrival     bigint not null default nextval('call_arrival'),
  order_id    text,
  refund_id   text,
  primary key (client_id, path, body_hash)
);
create index notice_partner on notice (partner_id, received_at);
create index notice_age on notice (received_at);
create index notice_order on notice (partner_id, order_id, received_at) where order_id is not null;
create index notice_refund on notice (partner_id, refund_id, received_at) where refund_id is not null;

-- Calls that were refused, for the partner to see in the sandbox, also those to paths that do not exist; kept 30 days.
create table rejected_call (
  call_id     uuid primary key,
  received_at timestamptz not null,
  partner_id  bigint,         -- null where the clientId is unknown
  client_id   text,
  path        text not null,
  reason      jsonb not null,
  headers     jsonb not null, -- the signature shortened
  body        text not null,
  answer      text not null,
  -- Whether it proved to come from its partner: signed with a live clientSecret, under a Date of that time. Anybody can
  -- send the others.
  verified    boolean not null default false,
  left_out    int,            -- how many more were refused in a window and not kept: this row stands for them
  method      text,           -- null: POST
  arrival     bigint not null default nextval('call_arrival')
);
create index rejected_call_partner on rejected_call (partner_id, received_at);
create index rejected_call_age on rejected_call (received_at);
create index rejected_call_order on rejected_call
  (partner_id, (substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})')), received_at)
  where substring(left(body, 4096) from '"orderId"\s*:\s*"?(\d{1,19})') is not null;
create index rejected_call_refund on rejected_call
  (partner_id, (substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})')), received_at)
  where substring(left(body, 4096) from '"refundId"\s*:\s*"?([^",}\s]{1,64})') is not null;

-- Refused calls as the room of the notices reads them, beside those that it accepted.
create view refused_notice as
select call_id, partner_id, received_at, path, reason, body, verified,
  answer like '{"code":404,%' or answer like '{"code":_00,"describe":"method not allowed%' as wrong_path
from rejected_call where left_out is null;

-- What the signature tool was shown: the newest of each partner, for it to read the verdicts.
create table signature_test (
  test_id              bigint generated always as identity primary key,
  partner_id           bigint not null references partner on delete cascade,
  tested_at            timestamptz not null,
  source               text not null check (source in ('sent', 'pasted')),
  mistakes             text[] not null, -- none: passed
  method               text not null,
  path                 text not null,
  date_header          text not null,
  authorization_header text not null, -- the signature shortened
  string_to_sign       text not null,
  signed_instead       text,          -- where it was found out
  -- Whether the tool was called by somebody who proved to hold a secret of the partner, or pasted a call while signed
  -- in. Anybody who knows a clientId can make the others, so they are counted apart.
  verified             boolean not null default false,
  warnings             text[] not null default '{}' -- names (src/ticketing/mws/diagnose/warnings.ts)
);
create index signature_test_partner on signature_test (partner_id, verified, test_id);

-- Passing once unlocks the test run, however many calls come after it.
create table signature_pass (
  partner_id bigint primary key references partner on delete cascade,
  passed_at  timestamptz not null
);
