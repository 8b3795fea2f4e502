import { randomUUID } from 'node:crypto'
import { enqueue } from '../../src/platform/db/jobs-store.ts'
import { ADMIN_TOKEN, type World } from '../harness.ts'

/** One record of each kind, with names and URLs that would run as scripts in a careless page. */

export const HOSTILE = `"><img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>'`
const HOSTILE_URL = `https://evil.example/"><script>globalThis.ran=1</script>`

export interface Filled {
  readonly app_key: string
  readonly partner_id: string
  readonly client_id: string
  readonly client_secret: string
  readonly grant_id: string
  readonly order_id: string
  readonly job_id: string
  readonly run_id: string
  readonly request_id: string
  readonly team_id: string
  readonly invitation_id: string
  readonly event_id: string
  /** `kind` and `id` of a call to the partner, as in the traffic. */
  readonly kind: string
  readonly id: string
}

/** Personal data in the body of a call. */
export const VISITOR = 'Erika Mustermann'
export const USER = { cid: 7, user_id: `a/b ${HOSTILE}`.slice(0, 120) }

export async function fill(world: World): Promise<Filled> {
  const call = async (method: 'POST' | 'PUT', path: string, payload: object) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const response = await world.app.inject({ method, url: `/admin/v1${path}`, headers, payload })
    const { data, rescode } = response.json()
    if (rescode !== 0) throw new Error(`${path}: ${response.body}`)
    return data
  }
  const app = await call('POST', '/apps', {
    name: HOSTILE,
    logo_url: HOSTILE_URL,
    hosts: ['evil.example'],
    redirect_uris: [HOSTILE_URL.replaceAll('"', '%22').replaceAll('<', '%3C').replaceAll('>', '%3E')],
    scopes: ['USER_INFO'],
    webhook_url: HOSTILE_URL,
  })
  await call('POST', `/apps/${app.app_key}/test-webhook`, {})
  const { event_id } = (await world.pool.query('select event_id from app_event')).rows[0]
  await call('POST', '/users', {
    ...USER,
    name: HOSTILE,
    passport: HOSTILE,
    password: 'password of a user',
    big_avatar_url: HOSTILE_URL,
    phone_number: '+8613800138000',
  })
  const partner = await call('POST', '/partners', {
    name: HOSTILE,
    base_url: 'https://evil.example/"><script>globalThis.ran=1</script>',
    interface_urls: { 'order-create': HOSTILE_URL },
    contacts: { product: { name: HOSTILE, mail: 'someone@example.com', webhook_url: HOSTILE_URL } },
  })
  const { routing_key } = (await world.pool.query('select routing_key from user_profile')).rows[0]
  const { grant_id } = (
    await world.pool.query(
      `insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at)
       values ($1, gen_random_uuid(), $2, $3, $4, '{USER_INFO}', $5) returning grant_id`,
      [routing_key, USER.cid, USER.user_id, app.app_key, world.clock.now()],
    )
  ).rows[0]
  const partner_deal_id = 'deal/1'
  await world.pool.query(
    `insert into product (partner_id, partner_deal_id, sale_state, title, details, pulled_at, created_at, updated_at)
     values ($1, $2, 'on_sale', $3, $4, $5, $5, $5)`,
    [partner.partner_id, partner_deal_id, HOSTILE, { [HOSTILE]: HOSTILE_URL }, world.clock.now()],
  )
  const order_id = '88001'
  const [id, request_id, team_id, invitation_id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await world.pool.query(
    `insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, sandbox, state, state_since, request, quantity,
       buy_price, unit_price, total_price, created_at, updated_at)
     values ($1, $2, $3, $3, false, 'paid', $4, '{}', 2, 1, 2, 4, $4, $4)`,
    [order_id, partner.partner_id, HOSTILE.slice(0, 64), world.clock.now()],
  )
  await world.pool.query(
    `insert into partner_call (call_id, partner_id, interface, order_id, started_at, duration_ms, url, request_headers,
       request_body, cause, failure, failure_detail)
     values ($5, $1, 'order-query', $2, $3, 5, $6, $7, $8, 'schedule', 'unreachable', to_jsonb($4::text))`,
    [
      ...[partner.partner_id, order_id, world.clock.now(), HOSTILE, id, HOSTILE_URL],
      ...[{ [HOSTILE]: HOSTILE }, JSON.stringify({ [HOSTILE]: VISITOR, orderId: HOSTILE })],
    ],
  )
  await world.pool.query(
    `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
     values ($1, $2, $3, $4, $5, to_jsonb($6::text), $7, $5, $5, false)`,
    [randomUUID(), world.clock.now(), partner.partner_id, partner.client_id, HOSTILE, HOSTILE, { [HOSTILE]: HOSTILE }],
  )
  await world.pool.query(
    `insert into refused_request (request_id, at, endpoint, method, status, rescode, failure, detail, parameters, app_key,
       proved, token, routing_key, cid, user_id)
     values ($1, $2, 'A2', 'POST', 200, 20004, $3, $3, $3, $4, true, 'ghac_AAAAAAAAAAAA', $5, $6, $7)`,
    [request_id, world.clock.now(), HOSTILE, app.app_key, routing_key, USER.cid, USER.user_id],
  )
  // With the id of the refused request, because `Filled` has only one request_id.
  await world.pool.query(
    `with made as (insert into team (team_id, name, created_at) values ($6, $1, $2) returning team_id),
       given as (insert into team_app (app_key, team_id, kind, given_at) select $3, team_id, 'server', $2 from made),
       invited as (insert into team_invitation (invitation_id, team_id, mail, mail_key, role, link_id, link_hash, invited_at,
           expires_at, mail_state)
         select $7, team_id, $1, $1, 'owner', $7, '', $2, $2, 'waiting' from made)
     insert into app_request (request_id, app_key, kind, asked, state, asked_at)
     values ($4, $3, 'change', $5, 'open', $2)`,
    [
      ...[HOSTILE, world.clock.now(), app.app_key, request_id],
      {
        ...{ name: HOSTILE, logo_url: null, hosts: ['evil.example'], redirect_uris: [] },
        ...{ scopes: ['USER_INFO'], kind: 'server', reasons: { USER_INFO: HOSTILE } },
      },
      ...[team_id, invitation_id],
    ],
  )
  const { run_id } = (
    await world.pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, steps, current_step, created_at)
       values (gen_random_uuid(), $1, 1, '{"functions": [], "products": {"main": "DEMO-OPEN"}, "quantity": 2}', '{heartbeat}', 'heartbeat', $2) returning run_id`,
      [partner.partner_id, world.clock.now()],
    )
  ).rows[0]
  await world.pool.query(
    `insert into record_change (at, partner_id, record, record_id, order_id, cause, change)
     values ($3, $1, 'order', $2, $4, 'operator', '{"state": ["paying", "paid"]}')`,
    [partner.partner_id, order_id, world.clock.now(), order_id],
  )
  await world.pool.query(
    `insert into partner_certificate (partner_id, origin, ends_at, seen_at) values ($1, 'https://evil.example', $2, $2)`,
    [partner.partner_id, world.clock.now()],
  )
  await enqueue(world.deps.db, 'pull-due', {}, { key: HOSTILE })
  const { id: job_id } = (await world.pool.query('select id from graphile_worker.jobs where key = $1', [HOSTILE]))
    .rows[0]
  await world.pool.query('select graphile_worker.permanently_fail_jobs(array[$1::bigint], $2)', [job_id, HOSTILE])
  const keys = {
    app_key: app.app_key,
    partner_id: String(partner.partner_id),
    client_id: partner.client_id,
    client_secret: partner.client_secret,
    partner_deal_id,
    grant_id,
    event_id,
    order_id,
    job_id: String(job_id),
  }
  return { ...keys, run_id, request_id, team_id, invitation_id, kind: 'call', id }
}

/** The URL of a page or change of the console, with the ids of these records filled in. */
export function addressOf(path: string, filled: Filled, name = 'somebody'): string {
  const params: Record<string, string> = { ...filled, name, kid: 'none', operation: 'app_show' }
  const query = new URLSearchParams({ cid: String(USER.cid), user_id: USER.user_id })
  if (path === '/users/end-session') query.set('session_id', 'x'.repeat(43))
  if (path === '/grants/revoke') query.set('grant_id', filled.grant_id)
  if (path === '/operators/:name/tokens/revoke')
    return `/console/operators/${name}/tokens/revoke?token_id=${filled.request_id}`
  const filledIn = path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
  return `/console${filledIn}${/^\/(?:users\/(?!new$|deletion-requests$)|grants\/)/.test(path) ? `?${query}` : ''}`
}
