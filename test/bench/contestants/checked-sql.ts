/** The statements of `checked`: those of `plain`'s single statement, as each result is checked before the next is sent. */

export const findSecret = {
  name: 'find-secret',
  text: `
    select p.partner_id, p.status, s.secret_id, s.sealed
    from partner p join partner_secret s using (partner_id)
    where p.client_id = $1 and (s.ends_at is null or s.ends_at > now())`,
}

/** Returns no row if the same notice was received before. */
export const claim = {
  name: 'claim',
  text: `
    insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
    values ($1, $2, $3, $4, $5, now(), $6, $7)
    on conflict (client_id, path, body_hash) do nothing
    returning notice_id`,
}

export const firstAnswer = {
  name: 'first-answer',
  text: 'select answer from notice where client_id = $1 and path = $2 and body_hash = $3',
}

export const lockOrder = {
  name: 'lock-order',
  text: `
    select partner_id, partner_order_id, state, quantity, used_quantity, refunded_quantity
    from ticket_order where order_id = $1 for update`,
}

export const vouchersOf = {
  name: 'vouchers-of',
  text: 'select voucher, state from voucher where order_id = $1',
}

export const change = {
  name: 'change',
  text: `
    with taken as (
      update ticket_order set state = $2, state_since = now(), revision = revision + 1,
        used_quantity = $3, refunded_quantity = $4, updated_at = now()
      where order_id = $1
      returning partner_id
    ), tickets as (
      update voucher v set state = told.state from unnest($5::text[], $6::text[]) as told (voucher, state)
      where v.order_id = $1 and v.voucher = told.voucher
    )
    insert into record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change)
    select now(), partner_id, c.record, c.record_id, $1, 'notice', $7, c.change
    from taken, jsonb_to_recordset($8::jsonb) as c (record text, record_id text, change jsonb)`,
}
