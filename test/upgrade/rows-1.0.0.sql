-- Two rows of each table of 1.0.0: one with every column, one without those that may be null.
insert into installation (only_one, secret_key_fingerprint, made_at, checked_at, makes_since, purged_at) values
  (true, '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z');

insert into failed_attempt (subject, failures, window_ends_at) values
  ('\x01', 1, '2026-11-26T12:00:01Z'),
  ('\x02', 2, '2026-11-26T12:00:02Z');

insert into rate_count (subject, uses, window_ends_at) values
  ('\x01', 1, '2026-11-26T12:00:01Z'),
  ('\x02', 2, '2026-11-26T12:00:02Z');

insert into audit_event (routing_key, audit_id, at, event, app_key, cid, user_id, detail, actor, actor_name, target,
  partner_id, address, request_id, outcome) values
  (1, '91b70000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', 'event 1', 'app-1', 1, '10001', '{"n": 1}',
    'actor 1', 'actor_name 1', 'target 1', 7001, 'address 1', 'request_id 1', 'outcome 1'),
  (2, '91b70000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', 'event 2', null, null, null, '{"n": 2}',
    'actor 2', null, null, null, null, null, 'outcome 2');

insert into audit_unsealed (routing_key, audit_id) values
  (1, 'df340000-0000-4000-8000-000000000001'),
  (2, 'df340000-0000-4000-8000-000000000002');

insert into audit_seal (seal_no, before_at, first_at, last_at, routing_keys, audit_ids, row_digests, key_id, chain,
  before_chain) values
  (1, '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '{}', '{}', '\x01', 'key_id 1', '\x01',
    '\x01'),
  (2, null, '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', '{}', '{}', '\x02', 'key_id 2', '\x02', '\x02');

insert into record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change) values
  ('2026-11-26T12:00:01Z', 7001, 'order', 'record_id 1', 4001, 'notice', 'cause_id 1', '{"n": 1}'),
  ('2026-11-26T12:00:02Z', 7002, 'product', 'record_id 2', null, 'job', null, '{"n": 2}');

insert into micro_app (app_key, name, logo_url, status, hosts, redirect_uris, scopes, refresh_days, refresh_policy,
  http_allowed, created_at, updated_at, demo, post_logout_uris, token_auth_methods, require_pkce, always_ask,
  cors_origins, id_token_alg, jwks, jwks_uri, valid_from, require_pkce_in_a1, issuer_aud_only, webhook_url,
  webhook_secret, stage) values
  ('app-1', 'name 1', 'logo_url 1', 'approved', '{}', '{}', '{USER_INFO}', 30, 'fixed', true, '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z', true, '{}', '{}', true, true, '{}', 'id_token_alg 1', '{"n": 1}', 'jwks_uri 1',
    '2026-11-26T12:00:01Z', true, true, 'webhook_url 1', '\x01', 'live'),
  ('app-2', 'name 2', null, 'pending', '{}', '{}', '{USER_INFO,PHONE_NUMBER}', 90, 'rotating', false,
    '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', false, '{}', '{}', false, false, '{}', 'id_token_alg 2', null,
    null, null, false, false, null, null, 'development');

insert into micro_app_secret (app_key, secret_hash, created_at, ends_at, last_used_at, hashed_with) values
  ('app-1', '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '\x01'),
  ('app-2', '\x02', '2026-11-26T12:00:02Z', null, null, '\x02');

insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at,
  demo, valid_from, updated_at, test_of) values
  (1, 1, '10001', 'name 1', '0', 'big_avatar_url 1', 'phone_number 1', 'active', '2026-11-26T12:00:01Z', true,
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', 'test_of 1'),
  (2, 1, '10002', 'name 2', '1', 'big_avatar_url 2', null, 'blocked', '2026-11-26T12:00:02Z', false, null, null, null);

insert into user_credential (passport, password_hash, routing_key, cid, user_id, passport_shown) values
  ('passport 1', 'password_hash 1', 1, 1, '10001', 'passport_shown 1'),
  ('passport 2', 'password_hash 2', 2, 1, '10002', null);

insert into browser_session (routing_key, session_hash, cid, user_id, created_at, expires_at, address, user_agent,
  amr, from_upstream, authenticated_at, acr, id_token, upstream_sub, upstream_sid) values
  (1, '\x01', 1, '10001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', 'address 1', 'user_agent 1', '{}', true,
    '2026-11-26T12:00:01Z', 'acr 1', '\x01', '\x01', '\x01'),
  (2, '\x02', 1, '10002', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null, null, false, null, null, null,
    null, null);

insert into profile_picture (routing_key, cid, user_id, picture_id, bytes, made_at) values
  (1, 1, '10001', '05420000-0000-4000-8000-000000000001', '\x01', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '05420000-0000-4000-8000-000000000002', '\x02', '2026-11-26T12:00:02Z');

insert into sign_in (routing_key, cid, user_id, at, sign_in_id, outcome, method, address, user_agent) values
  (1, 1, '10001', '2026-11-26T12:00:01Z', '8eda0000-0000-4000-8000-000000000001', 'succeeded', 'method 1',
    'address 1', 'user_agent 1'),
  (2, 1, '10002', '2026-11-26T12:00:02Z', '8eda0000-0000-4000-8000-000000000002', 'failed', 'method 2', null, null);

insert into password_link (routing_key, link_hash, cid, user_id, created_at, expires_at, used_at) values
  (1, '\x01', 1, '10001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, '\x02', 1, '10002', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null);

insert into contact_change (routing_key, cid, user_id, kind, change_id, value, tries, asked_at, expires_at) values
  (1, 1, '10001', 'kind 1', '0d8b0000-0000-4000-8000-000000000001', 'value 1', 1, '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  (2, 1, '10002', 'kind 2', '0d8b0000-0000-4000-8000-000000000002', 'value 2', 2, '2026-11-26T12:00:02Z',
    '2026-11-26T12:00:02Z');

insert into user_totp (routing_key, cid, user_id, sealed, last_step, created_at, confirmed_at) values
  (1, 1, '10001', '\x01', 1, '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '\x02', 2, '2026-11-26T12:00:02Z', null);

insert into recovery_code (routing_key, cid, user_id, code_hash, created_at, used_at) values
  (1, 1, '10001', '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '\x02', '2026-11-26T12:00:02Z', null);

insert into passkey (routing_key, credential_id, cid, user_id, passkey_id, public_key, counter, transports, name,
  created_at, last_used_at) values
  (1, '\x01', 1, '10001', '278c0000-0000-4000-8000-000000000001', '\x01', 1, '{}', 'name 1', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  (2, '\x02', 1, '10002', '278c0000-0000-4000-8000-000000000002', '\x02', 2, '{}', 'name 2', '2026-11-26T12:00:02Z',
    null);

insert into used_challenge (challenge_hash, expires_at) values
  ('\x01', '2026-11-26T12:00:01Z'),
  ('\x02', '2026-11-26T12:00:02Z');

insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, revoked_at, auth_time,
  nonce, sid, acr, silent, amr) values
  (1, 'cba80000-0000-4000-8000-000000000001', 1, '10001', 'app-1', '{USER_INFO}', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', 'nonce 1', 'sid 1', 'acr 1', true, '{}'),
  (2, 'cba80000-0000-4000-8000-000000000002', 1, '10002', 'app-2', '{USER_INFO,PHONE_NUMBER}', '2026-11-26T12:00:02Z',
    null, null, null, null, null, false, null);

insert into authorization_code (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge,
  expires_at, failed_tries, used_at) values
  (1, '\x01', 'cba80000-0000-4000-8000-000000000001', 'app-1', 'redirect_uri 1', 'state 1', 'code_challenge 1',
    '2026-11-26T12:00:01Z', 1, '2026-11-26T12:00:01Z'),
  (2, '\x02', 'cba80000-0000-4000-8000-000000000002', 'app-2', 'redirect_uri 2', 'state 2', null,
    '2026-11-26T12:00:02Z', 2, null);

insert into used_code (routing_key, code_hash, grant_id, used_at, expires_at) values
  (1, '\x01', 'cba80000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, '\x02', 'cba80000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at) values
  (1, '\x01', 'cba80000-0000-4000-8000-000000000001', '{USER_INFO}', '2026-11-26T12:00:01Z'),
  (2, '\x02', 'cba80000-0000-4000-8000-000000000002', '{USER_INFO,PHONE_NUMBER}', '2026-11-26T12:00:02Z');

insert into ended_access_token (routing_key, token_hash, grant_id, expires_at) values
  (1, '\x01', 'cba80000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z'),
  (2, '\x02', 'cba80000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z');

insert into refresh_token (routing_key, token_hash, grant_id, expires_at, rotated_at) values
  (1, '\x01', 'cba80000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, '\x02', 'cba80000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', null);

insert into consent_decision (routing_key, form_id, decision, expires_at) values
  (1, '3be90000-0000-4000-8000-000000000001', 'approve', '2026-11-26T12:00:01Z'),
  (2, '3be90000-0000-4000-8000-000000000002', 'refuse', '2026-11-26T12:00:02Z');

insert into remembered_consent (routing_key, cid, user_id, app_key, scopes, allowed_at) values
  (1, 1, '10001', 'app-1', '{USER_INFO}', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', 'app-2', '{USER_INFO,PHONE_NUMBER}', '2026-11-26T12:00:02Z');

insert into signing_key (kid, alg, public_jwk, sealed, created_at, signs_from, signs_until, published_until) values
  ('kid 1', 'RS256', '{"n": 1}', '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  ('kid 2', 'ES256', '{"n": 2}', '\x02', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null);

insert into pushed_request (request_hash, app_key, parameters, expires_at, opened_by) values
  ('\x01', 'app-1', 'parameters 1', '2026-11-26T12:00:01Z', '\x01'),
  ('\x02', 'app-2', 'parameters 2', '2026-11-26T12:00:02Z', null);

insert into client_assertion (assertion_hash, expires_at) values
  ('\x01', '2026-11-26T12:00:01Z'),
  ('\x02', '2026-11-26T12:00:02Z');

insert into app_event (routing_key, event_id, app_key, type, cid, user_id, reason, all_ended, state, attempts,
  last_error, created_at, sent_at) values
  (1, 'db920000-0000-4000-8000-000000000001', 'app-1', 'type 1', 1, '10001', 'reason 1', true, 'sent', 1,
    'last_error 1', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, 'db920000-0000-4000-8000-000000000002', 'app-2', 'type 2', 1, '10002', 'reason 2', false, 'waiting', 2, null,
    '2026-11-26T12:00:02Z', null);

insert into data_access (routing_key, cid, user_id, hour, app_key, kind, reads, last_at) values
  (1, 1, '10001', '2026-11-26T12:00:01Z', 'app-1', 'kind 1', 1, '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '2026-11-26T12:00:02Z', 'app-2', 'kind 2', 2, '2026-11-26T12:00:02Z');

insert into refused_request (routing_key, request_id, at, endpoint, method, status, rescode, failure, detail,
  parameters, app_key, proved, token, cid, user_id, received) values
  (1, '9f590000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', 'endpoint 1', 'method 1', 1, 1, 'failure 1',
    'detail 1', 'parameters 1', 'app-1', true, 'token 1', 1, '10001', '{"n": 1}'),
  (2, '9f590000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', 'endpoint 2', 'method 2', 2, 2, null, null,
    'parameters 2', null, false, null, null, null, null);

insert into deletion_request (routing_key, cid, user_id, requested_at, due_at) values
  (1, 1, '10001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '2026-11-26T12:00:02Z', null);

insert into partner (partner_id, client_id, name, status, stage, base_url, interface_urls, created_at, updated_at,
  demo, aes_key, aes_key_set_at, encrypts_calls) values
  (7001, 'client_id 1', 'name 1', 'active', 'live', 'base_url 1', '{"n": 1}', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z', true, '\x01', '2026-11-26T12:00:01Z', true),
  (7002, 'client_id 2', 'name 2', 'suspended', 'sandbox', null, '{"n": 2}', '2026-11-26T12:00:02Z',
    '2026-11-26T12:00:02Z', false, null, null, false);

insert into partner_secret (secret_id, partner_id, sealed, signs, overlap_s, created_at, ends_at, last_used_at) values
  ('fe070000-0000-4000-8000-000000000001', 7001, '\x01', true, 1, '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  ('fe070000-0000-4000-8000-000000000002', 7002, '\x02', true, 2, '2026-11-26T12:00:02Z', null, null);

insert into partner_contact (partner_id, role, name, mail, webhook_url, webhook_secret) values
  (7001, 'product', 'name 1', 'mail 1', 'webhook_url 1', '\x01'),
  (7002, 'business', 'name 2', 'mail 2', null, null);

insert into partner_member (member_id, partner_id, mail, mail_key, role, password_hash, credential_version,
  invited_at, joined_at, removed_at) values
  ('39f10000-0000-4000-8000-000000000001', 7001, 'mail 1', 'mail_key 1', 'owner', 'password_hash 1', 1,
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  ('39f10000-0000-4000-8000-000000000002', 7002, 'mail 2', 'mail_key 2', 'developer', null, 2, '2026-11-26T12:00:02Z',
    null, null);

insert into member_link (link_id, link_hash, member_id, purpose, created_at, expires_at, used_at, mail_state,
  mail_error) values
  ('97110000-0000-4000-8000-000000000001', '\x01', '39f10000-0000-4000-8000-000000000001', 'invitation',
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', 'sent', 'mail_error 1'),
  ('97110000-0000-4000-8000-000000000002', '\x02', '39f10000-0000-4000-8000-000000000002', 'password',
    '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, 'waiting', null);

insert into partner_circuit (partner_id, process, opened_at, retry_at) values
  (7001, 'd7f30000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (7002, 'd7f30000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into partner_certificate (partner_id, origin, ends_at, seen_at) values
  (7001, 'origin 1', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (7002, 'origin 2', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into partner_call (call_id, partner_id, interface, order_id, started_at, duration_ms, url, request_headers,
  request_body, http_status, response_headers, response_body, code, failure, failure_detail, forged, verdict, by_hand,
  arrival, cause, cause_ref) values
  ('51230000-0000-4000-8000-000000000001', 7001, 'interface 1', 4001, '2026-11-26T12:00:01Z', 1, 'url 1', '{"n": 1}',
    'request_body 1', 1, '{"n": 1}', 'response_body 1', 1, 'failure 1', '{"n": 1}', 'forged 1', 'verdict 1', true, 1,
    'notice', 'cause_ref 1'),
  ('51230000-0000-4000-8000-000000000002', 7002, 'interface 2', null, '2026-11-26T12:00:02Z', 2, 'url 2', '{"n": 2}',
    'request_body 2', null, null, null, null, null, null, null, null, false, 2, 'schedule', null);

insert into product (partner_id, partner_deal_id, sale_state, title, details, pulled_at, created_at, updated_at) values
  (7001, 'd-1', 'on_sale', 'title 1', '{"n": 1}', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  (7002, 'd-2', 'unknown', null, null, null, '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into product_price (partner_id, partner_deal_id, price_date, partner_primary_key, market_price, mt_price,
  settlement_price, stock, details, pulled_at) values
  (7001, 'd-1', '2026-12-01', 'partner_primary_key 1', 1, 1, 1, 1, '{"n": 1}', '2026-11-26T12:00:01Z'),
  (7002, 'd-2', '2026-12-02', 'partner_primary_key 2', null, null, null, 2, '{"n": 2}', '2026-11-26T12:00:02Z');

insert into price_removal (partner_id, partner_deal_id, level, digest, said_at) values
  (7001, 'd-1', true, '\x01', '2026-11-26T12:00:01Z'),
  (7002, 'd-2', false, '\x02', '2026-11-26T12:00:02Z');

insert into pull_due (partner_id, partner_deal_id, kind, notices, due_at, problem, told, notice) values
  (7001, 'd-1', 'product', 1, '2026-11-26T12:00:01Z', 'problem 1', true, 'notice 1'),
  (7002, 'd-2', 'prices', 2, '2026-11-26T12:00:02Z', null, false, 'notice 2');

insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, sandbox, state, state_since,
  revision, last_code, last_describe, vouchers_open, close_type, quantity, used_quantity, refunded_quantity,
  buy_price, unit_price, total_price, travel_date, request, created_at, updated_at, delete_after, data_removed_at,
  contradiction) values
  (4001, 7001, 'd-1', 'partner_order_id 1', true, 'paid', '2026-11-26T12:00:01Z', 1, 1, '{"n": 1}', true, 1, 2, 1, 1,
    1, 1, 1, '2026-12-01', '{"n": 1}', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z', '{"n": 1}'),
  (4002, 7002, 'd-2', null, false, 'creating', '2026-11-26T12:00:02Z', 2, null, null, false, null, 2, 0, 0, 2, 2, 2,
    null, '{"n": 2}', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null, null);

insert into voucher (order_id, voucher, state, quantity, picture, invalid_at, used_quantity, refunded_quantity) values
  (4001, 'voucher 1', 'used', 2, 'picture 1', 'invalid_at 1', 1, 1),
  (4002, 'voucher 2', 'unused', 2, null, null, 0, 0);

insert into refund (partner_id, refund_id, order_id, state, refund_quantity, vouchers, refund_price, refund_fee,
  decision_code, reason, created_at, updated_at) values
  (7001, 'refund_id 1', 4001, 'refunded', 1, '{}', 1, 1, 1, '{"n": 1}', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  (7002, 'refund_id 2', 4002, 'asked', 1, '{}', 2, 2, null, null, '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into order_additional (order_id, voucher_additional, order_additional, left_out) values
  (4001, '{"n": 1}', '{"n": 1}', 1),
  (4002, '{"n": 2}', '{"n": 2}', 2);

insert into order_credential (order_id, voucher, credential_no, credential_type) values
  (4001, 'voucher 1', 'credential_no 1', 1),
  (4002, 'voucher 2', 'credential_no 2', 2);

insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer, warnings, arrival,
  order_id, refund_id) values
  ('client_id 1', 'path 1', '\x01', '884c0000-0000-4000-8000-000000000001', 7001, '2026-11-26T12:00:01Z', 'body 1',
    'answer 1', 'warnings 1', 3, '4001', 'refund_id 1'),
  ('client_id 2', 'path 2', '\x02', '884c0000-0000-4000-8000-000000000002', 7002, '2026-11-26T12:00:02Z', 'body 2',
    'answer 2', 'warnings 2', 4, null, null);

insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified,
  left_out, method, arrival) values
  ('d12d0000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', 7001, 'client_id 1', 'path 1', '{"n": 1}',
    '{"n": 1}', 'body 1', 'answer 1', true, 1, 'method 1', 5),
  ('d12d0000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', null, null, 'path 2', '{"n": 2}', '{"n": 2}',
    'body 2', 'answer 2', false, null, null, 6);

insert into signature_test (partner_id, tested_at, source, mistakes, method, path, date_header, authorization_header,
  string_to_sign, signed_instead, verified, warnings) values
  (7001, '2026-11-26T12:00:01Z', 'sent', '{}', 'method 1', 'path 1', 'date_header 1', 'authorization_header 1',
    'string_to_sign 1', 'signed_instead 1', true, '{}'),
  (7002, '2026-11-26T12:00:02Z', 'pasted', '{}', 'method 2', 'path 2', 'date_header 2', 'authorization_header 2',
    'string_to_sign 2', null, false, '{}');

insert into signature_pass (partner_id, passed_at) values
  (7001, '2026-11-26T12:00:01Z'),
  (7002, '2026-11-26T12:00:02Z');

insert into sandbox_run (run_id, partner_id, number, choice, current_step, last_seq, created_at, open_attempt,
  superseded_at, passed_at, steps) values
  ('ed130000-0000-4000-8000-000000000001', 7001, 1, '{"n": 1}', 'current_step 1', 1, '2026-11-26T12:00:01Z',
    '81550000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '{heartbeat,product-pull}'),
  ('ed130000-0000-4000-8000-000000000002', 7002, 2, '{"n": 2}', null, 2, '2026-11-26T12:00:02Z', null, null, null,
    '{heartbeat}');

insert into sandbox_attempt (attempt_id, run_id, step_id, number, started_at, alive_till, ended_at, outcome) values
  ('81550000-0000-4000-8000-000000000001', 'ed130000-0000-4000-8000-000000000001', 'step_id 1', 1,
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:00Z', 'passed'),
  ('81550000-0000-4000-8000-000000000002', 'ed130000-0000-4000-8000-000000000002', 'step_id 2', 2,
    '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null);

insert into sandbox_event (run_id, seq, attempt_id, at, kind, data) values
  ('ed130000-0000-4000-8000-000000000001', 1, '81550000-0000-4000-8000-000000000001', '2026-11-26T12:00:01Z',
    'kind 1', '{"n": 1}'),
  ('ed130000-0000-4000-8000-000000000002', 2, '81550000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z',
    'kind 2', '{"n": 2}');

insert into sandbox_order (order_id, run_id, role, created_at) values
  (4001, 'ed130000-0000-4000-8000-000000000001', 'role 1', '2026-11-26T12:00:01Z'),
  (4002, 'ed130000-0000-4000-8000-000000000002', 'role 2', '2026-11-26T12:00:02Z');

insert into sandbox_report (run_id, report_id, content, signature, key_id, created_at) values
  ('ed130000-0000-4000-8000-000000000001', 'report_id 1', 'content 1', 'signature 1', 'key_id 1',
    '2026-11-26T12:00:01Z'),
  ('ed130000-0000-4000-8000-000000000002', 'report_id 2', 'content 2', 'signature 2', 'key_id 2',
    '2026-11-26T12:00:02Z');

insert into former_report_key (kid, x, ended_at) values
  ('kid 1', 'x 1', '2026-11-26T12:00:01Z'),
  ('kid 2', 'x 2', '2026-11-26T12:00:02Z');

insert into sandbox_notification (notification_id, run_id, partner_id, role, channel, name, address, facts, state,
  attempts, last_error, created_at, waiting_since, sent_at) values
  ('24640000-0000-4000-8000-000000000001', 'ed130000-0000-4000-8000-000000000001', 7001, 'product', 'mail', 'name 1',
    'address 1', '{"n": 1}', 'sent', 1, 'last_error 1', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  ('24640000-0000-4000-8000-000000000002', 'ed130000-0000-4000-8000-000000000002', 7002, 'business', 'webhook',
    'name 2', 'address 2', '{"n": 2}', 'waiting', 2, null, '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null);

insert into sandbox_withdrawn_link (run_id, times) values
  ('ed130000-0000-4000-8000-000000000001', 1),
  ('ed130000-0000-4000-8000-000000000002', 2);

insert into sandbox_session (session_hash, partner_id, secret_id, created_at, expires_at, member_id,
  credential_version) values
  ('\x01', 7001, null, '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '39f10000-0000-4000-8000-000000000001', 1),
  ('\x02', 7002, 'fe070000-0000-4000-8000-000000000002', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null);

insert into operator (operator_id, name, role, status, created_at, password_hash, totp_sealed, totp_confirmed_at,
  totp_last_step, credential_version) values
  ('28a40000-0000-4000-8000-000000000001', 'name 1', 'admin', 'active', '2026-11-26T12:00:01Z', 'password_hash 1',
    '\x01', '2026-11-26T12:00:01Z', 1, 1),
  ('28a40000-0000-4000-8000-000000000002', 'name 2', 'viewer', 'disabled', '2026-11-26T12:00:02Z', null, null, null,
    2, 2);

insert into operator_token (token_hash, token_id, operator_id, name, role, created_at, expires_at, last_used_at,
  revoked_at) values
  ('\x01', '12710000-0000-4000-8000-000000000001', '28a40000-0000-4000-8000-000000000001', 'name 1', 'admin',
    '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  ('\x02', '12710000-0000-4000-8000-000000000002', '28a40000-0000-4000-8000-000000000002', 'name 2', 'viewer',
    '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', null, null);

insert into operator_session (session_hash, operator_id, credential_version, pending, created_at, last_seen_at,
  expires_at) values
  ('\x01', '28a40000-0000-4000-8000-000000000001', 1, true, '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z',
    '2026-11-26T12:00:01Z'),
  ('\x02', '28a40000-0000-4000-8000-000000000002', 2, false, '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z',
    '2026-11-26T12:00:02Z');

insert into operator_recovery_code (operator_id, code_hash, used_at) values
  ('28a40000-0000-4000-8000-000000000001', '\x01', '2026-11-26T12:00:01Z'),
  ('28a40000-0000-4000-8000-000000000002', '\x02', null);

insert into first_operator_session (session_hash, token_mark, created_at, last_seen_at, expires_at) values
  ('\x01', '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z'),
  ('\x02', '\x02', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z');

insert into worker_lease (worker_id, ends_at) values
  ('worker_id 1', '2026-11-26T12:00:01Z'),
  ('worker_id 2', '2026-11-26T12:00:02Z');

insert into activity_hour (hour, kind, subject, total, refused, failed) values
  ('2026-11-26T12:00:01Z', 'requests', 'subject 1', 1, 1, 1),
  ('2026-11-26T12:00:02Z', 'app', 'subject 2', 2, 2, 2);

insert into developer (routing_key, cid, user_id, accepted_at) values
  (1, 1, '10001', '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '2026-11-26T12:00:02Z');

insert into team (team_id, name, created_at) values
  ('425d0000-0000-4000-8000-000000000001', 'name 1', '2026-11-26T12:00:01Z'),
  ('425d0000-0000-4000-8000-000000000002', 'name 2', '2026-11-26T12:00:02Z');

insert into team_member (routing_key, cid, user_id, team_id, member_id, role, joined_at) values
  (1, 1, '10001', '425d0000-0000-4000-8000-000000000001', '39f10000-0000-4000-8000-000000000001', 'owner',
    '2026-11-26T12:00:01Z'),
  (2, 1, '10002', '425d0000-0000-4000-8000-000000000002', '39f10000-0000-4000-8000-000000000002', 'developer',
    '2026-11-26T12:00:02Z');

insert into team_invitation (invitation_id, team_id, mail, mail_key, role, link_id, link_hash, invited_at, expires_at,
  mail_state, mail_error) values
  ('dd8e0000-0000-4000-8000-000000000001', '425d0000-0000-4000-8000-000000000001', 'mail 1', 'mail_key 1', 'owner',
    '8b4d0000-0000-4000-8000-000000000001', '\x01', '2026-11-26T12:00:01Z', '2026-11-26T12:00:01Z', 'sent',
    'mail_error 1'),
  ('dd8e0000-0000-4000-8000-000000000002', '425d0000-0000-4000-8000-000000000002', 'mail 2', 'mail_key 2',
    'developer', '8b4d0000-0000-4000-8000-000000000002', '\x02', '2026-11-26T12:00:02Z', '2026-11-26T12:00:02Z',
    'waiting', null);

insert into team_app (app_key, team_id, kind, reasons, given_at) values
  ('app-1', '425d0000-0000-4000-8000-000000000001', 'server', '{"n": 1}', '2026-11-26T12:00:01Z'),
  ('app-2', '425d0000-0000-4000-8000-000000000002', 'native', '{"n": 2}', '2026-11-26T12:00:02Z');
