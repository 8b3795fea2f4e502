/** The statements of `plain`. Each authenticates by a join, and reads and writes the same as Gatehouse. */

export const findToken = {
  name: 'find-token',
  text: `
    select t.scopes, t.expires_at, g.revoked_at, a.status, a.scopes as app_scopes, p.status as user_status,
           p.cid, p.user_id, p.name, p.gender, p.big_avatar_url, p.phone_number
    from access_token t
    join user_grant g on g.routing_key = t.routing_key and g.grant_id = t.grant_id
    join user_profile p on p.routing_key = g.routing_key and p.cid = g.cid and p.user_id = g.user_id
    join micro_app a on a.app_key = g.app_key
    where t.routing_key = $1 and t.token_hash = $2`,
}

export const exchange = {
  name: 'exchange',
  text: `
    with client as (
      select a.app_key from micro_app a join micro_app_secret s using (app_key)
      where a.app_key = $1 and s.secret_hash = $2
    ), spent as (
      update authorization_code c set used_at = now()
      from client, user_grant g
      join user_profile p on p.routing_key = g.routing_key and p.cid = g.cid and p.user_id = g.user_id
      where c.routing_key = $3 and c.code_hash = $4 and c.app_key = client.app_key
        and g.routing_key = $3 and g.grant_id = c.grant_id
      returning c.routing_key, c.grant_id, g.scopes, p.status
    ), access as (
      insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
      select routing_key, $5, grant_id, scopes, $6 from spent
    ), refresh as (
      insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
      select routing_key, $7, grant_id, $8 from spent
    )
    select scopes, status from spent`,
}

/** The part that both kinds of refresh have in common. */
const FOUND_REFRESH = `
    with found as (
      select r.routing_key, r.token_hash, r.grant_id, r.expires_at, g.scopes, p.status
      from micro_app a
      join micro_app_secret s using (app_key)
      join refresh_token r on r.routing_key = $3 and r.token_hash = $4
      join user_grant g on g.routing_key = r.routing_key and g.grant_id = r.grant_id
      join user_profile p on p.routing_key = g.routing_key and p.cid = g.cid and p.user_id = g.user_id
      where a.app_key = $1 and s.secret_hash = $2
    ), access as (
      insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
      select routing_key, $5, grant_id, scopes, $6 from found
    )`

export const refresh = { name: 'refresh', text: `${FOUND_REFRESH} select scopes, status from found` }

export const rotate = {
  name: 'rotate',
  text: `${FOUND_REFRESH}, rotated as (
      update refresh_token r set rotated_at = now() from found f
      where r.routing_key = f.routing_key and r.token_hash = f.token_hash
    ), successor as (
      insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
      select routing_key, $7, grant_id, expires_at from found
    )
    select scopes, status from found`,
}

export const consume = {
  name: 'consume',
  text: `
    with partner as (
      select p.partner_id, s.sealed from partner p join partner_secret s using (partner_id) where p.client_id = $1
    ), received as (
      insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
      select $1, $2, $3, $4, partner_id, now(), $5, $6 from partner
    ), taken as (
      update ticket_order set state = 'consumed', state_since = now(), revision = revision + 1,
        used_quantity = $8::int, refunded_quantity = $9::int, updated_at = now()
      where order_id = $7
      returning order_id, partner_id
    ), ticket as (
      update voucher set state = 'used' where order_id = $7 and voucher = $10
    )
    insert into record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change)
    select now(), partner_id, record, id, order_id, 'notice', $4::text, change
    from taken, lateral (values
      ('order', order_id::text, jsonb_build_object('state', array['paid', 'consumed'], 'used_quantity', array[0, $8::int])),
      ('voucher', $10, jsonb_build_object('state', array['unused', 'used']))
    ) as c (record, id, change)`,
}
