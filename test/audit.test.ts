import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../src/authorization/account/sign-in.ts'
import { rotateSigningKeys } from '../src/authorization/oidc/index.ts'
import { createOperator, disableOperator } from '../src/operations/operators/index.ts'
import { eventInWords } from '../src/platform/audit/actions.ts'
import { enqueue, failJobPermanently } from '../src/platform/db/jobs-store.ts'
import { createPartner } from '../src/ticketing/partners/partner.ts'
import { rotatePartnerSecret, switchSigning } from '../src/ticketing/partners/secret.ts'
import { newPartner } from '../src/ticketing/partners/wire.ts'
import { Client, newState, tokenSetOf } from './acceptance/client.ts'
import { injectWire } from './acceptance/http.ts'
import { adminRoutes } from './admin-routes.ts'
import { gatehouse } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'

/** The audit log: each operation writes its row in the same transaction as its change, so neither exists without the other. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({ CODE_DUPLICATE_WINDOW_S: '0', REFRESH_DUPLICATE_WINDOW_S: '0' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

/** Sets up what the operation needs, and returns it. Its outcome is judged only by the rows that it leaves. */
type Prepare = () => Promise<() => Promise<unknown>>
interface Audited {
  readonly event: string
  readonly actor: string
  /** What the `detail` of the row must contain. */
  readonly detail?: object
  readonly prepare: Prepare
}

const APP = { name: 'Audited', hosts: ['app.example.com'], scopes: ['USER_INFO'] }
const USER = {
  cid: 7,
  passport: 'audited',
  password: 'password-of-a-test-user',
  name: 'X',
  big_avatar_url: 'https://a.example/',
}
const partner = async (): Promise<bigint> => {
  const made = await createPartner(world.deps, newPartner.parse({ name: 'Audited' }))
  return made.partner_id
}
const TEAM = { name: 'A team', mail: 'owner@example.com' }
const onRequest =
  (path: string, body?: object): Prepare =>
  async () => {
    const { app_key } = await client.makeApp()
    const asked = { name: 'X', logo_url: null, hosts: ['x.example.com'], redirect_uris: [], scopes: ['USER_INFO'] }
    const { rows } = await world.pool.query(
      `insert into app_request (request_id, app_key, kind, asked, state, asked_at)
       values (gen_random_uuid(), $1, 'change', $2, 'open', now()) returning request_id`,
      [app_key, JSON.stringify({ ...asked, kind: 'server', reasons: { USER_INFO: 'For the ticket' } })],
    )
    return () => client.admin('POST', `/app-requests/${rows[0].request_id}/${path}`, body)
  }
const onApp =
  (method: string, path: string, body?: object): Prepare =>
  async () => {
    const { app_key } = await client.makeApp({ webhook_url: 'https://hooks.example.com/' })
    return () => client.admin(method, `/apps/${app_key}${path}`, body)
  }
const onUser =
  (path: string): Prepare =>
  async () => {
    const { cid, user_id } = await client.makeUser()
    return () => client.admin('POST', `/users${path}`, { cid, user_id })
  }
const onPartner =
  (method: string, path: string, body?: object): Prepare =>
  async () => {
    const id = await partner()
    return () => client.admin(method, `/partners/${id}${path}`, body)
  }
const consenting = async (changes: object = {}) => {
  const app = await client.makeApp({ ...changes })
  const user = await client.makeUser()
  const browser = await client.signedIn(user, app)
  return { app, user, browser }
}
const CONTACT = { name: 'Lin', mail: 'lin@example.com' }
const operator = (event: string, prepare: Prepare, detail?: object): Audited => ({
  event,
  actor: 'operator',
  prepare,
  ...(detail ? { detail } : {}),
})

const MEMBER = { mail: 'lin@example.com', role: 'owner' }
const removesMember: Prepare = async () => {
  const id = await partner()
  await client.admin('POST', `/partners/${id}/members`, MEMBER)
  return () => client.admin('POST', `/partners/${id}/members/remove`, { mail: MEMBER.mail })
}

const rotatesWebhook = (role: string): Audited =>
  operator('partner_webhook_secret_rotated', async () => {
    const id = await partner()
    const webhook_url = 'https://a.example/hook'
    await client.admin('PUT', `/partners/${id}/contacts/${role}`, { ...CONTACT, webhook_url })
    return () => client.admin('POST', `/partners/${id}/contacts/${role}/rotate-webhook-secret`)
  })

const about = (name: string, path: string, body?: object): Prepare => {
  return async () => {
    const made = `${name}${newState()}`
    const { token_id } = await createOperator(world.deps, { name: made, role: 'viewer', days: 1 })
    return () => client.admin('POST', `/operators/${made}/${path}`, path.endsWith('revoke') ? { token_id } : body)
  }
}
const aboutOperators = (): Record<string, Audited> => ({
  'POST /admin/v1/operators/:name/role': operator('operator_role_set', about('role', 'role', { role: 'support' }), {
    before: { role: 'viewer' },
    after: { role: 'support' },
  }),
  'POST /admin/v1/operators/:name/disable': operator('operator_disabled', about('disable', 'disable')),
  'POST /admin/v1/operators/:name/enable': operator('operator_enabled', async () => {
    const name = `enable${newState()}`
    await createOperator(world.deps, { name, role: 'viewer', days: 1 })
    await disableOperator(world.deps, { name })
    return () => client.admin('POST', `/operators/${name}/enable`)
  }),
  'POST /admin/v1/operators/:name/tokens': operator('operator_token_made', about('tokens', 'tokens', {})),
  'POST /admin/v1/operators/:name/tokens/revoke': operator('operator_token_revoked', about('revoke', 'tokens/revoke')),
  'POST /admin/v1/operators/:name/reset-totp': operator('operator_totp_reset', about('totp', 'reset-totp')),
  'POST /admin/v1/operators/:name/password': operator(
    'operator_password_set',
    about('password', 'password', { password: 'a long enough password' }),
  ),
})

const newJob = async (): Promise<string> => {
  await enqueue(world.deps.db, 'purge', {}, { key: `to-change-${newState()}` })
  return (await world.pool.query('select max(id) as id from graphile_worker.jobs')).rows[0].id
}
const onJob =
  (path: string, body?: object): Prepare =>
  async () => {
    const id = await newJob()
    return () => client.admin('POST', `/jobs/${id}/${path}`, body)
  }
const onFailedJob =
  (path: string, body: object): Prepare =>
  async () => {
    const id = await newJob()
    await failJobPermanently(world.deps.db, id, 'what went wrong')
    return () => client.admin('POST', `/jobs/${id}/${path}`, body)
  }

/** Operator routes, as Fastify prints them, and named operations of users and apps. */
const OPERATIONS: Readonly<Record<string, Audited>> = {
  'POST /admin/v1/apps': operator('app_created', async () => () => client.admin('POST', '/apps', APP)),
  'PATCH /admin/v1/apps/:app_key': operator('app_updated', onApp('PATCH', '', { hosts: ['new.example.com'] }), {
    before: { hosts: ['app.example.com'] },
    after: { hosts: ['new.example.com'] },
  }),
  'POST /admin/v1/apps/:app_key/approve': operator('app_approved', onApp('POST', '/approve')),
  'POST /admin/v1/apps/:app_key/give': operator('app_given', async () => {
    const { team_id } = await client.admin('POST', '/teams', TEAM)
    return onApp('POST', '/give', { team_id })()
  }),
  'POST /admin/v1/app-requests/:request_id/approve': operator('app_request_approved', onRequest('approve')),
  'POST /admin/v1/app-requests/:request_id/return': operator(
    'app_request_returned',
    onRequest('return', { remark: 'Why?' }),
  ),
  'POST /admin/v1/app-requests/:request_id/refuse': operator(
    'app_request_refused',
    onRequest('refuse', { remark: 'No, sorry' }),
  ),
  'POST /admin/v1/teams': operator('team_created', async () => () => client.admin('POST', '/teams', TEAM)),
  'POST /admin/v1/teams/:team_id/invitations/:invitation_id/send': operator('team_member_invited', async () => {
    const { team_id } = await client.admin('POST', '/teams', TEAM)
    const { rows } = await world.pool.query('select invitation_id from team_invitation where team_id = $1', [team_id])
    return () => client.admin('POST', `/teams/${team_id}/invitations/${rows[0].invitation_id}/send`)
  }),
  'POST /admin/v1/apps/:app_key/suspend': operator('app_suspended', onApp('POST', '/suspend')),
  'POST /admin/v1/apps/:app_key/rotate-webhook-secret': operator(
    'app_webhook_secret_rotated',
    onApp('POST', '/rotate-webhook-secret'),
  ),
  'POST /admin/v1/apps/:app_key/test-webhook': operator('app_webhook_tested', onApp('POST', '/test-webhook')),
  'POST /admin/v1/apps/:app_key/events/:event_id/retry': operator('app_event_retried', async () => {
    const { app_key } = await client.makeApp({ webhook_url: 'https://hooks.example.com/' })
    await client.admin('POST', `/apps/${app_key}/test-webhook`)
    const { rows } = await world.pool.query('select event_id from app_event where app_key = $1', [app_key])
    return () => client.admin('POST', `/apps/${app_key}/events/${rows[0].event_id}/retry`)
  }),
  'POST /admin/v1/apps/:app_key/rotate-secret': operator('app_secret_rotated', onApp('POST', '/rotate-secret')),
  'POST /admin/v1/users': operator('user_created', async () => {
    const user_id = `u${newState()}`
    return () => client.admin('POST', '/users', { ...USER, user_id, passport: user_id })
  }),
  'POST /admin/v1/users/block': operator('user_blocked', onUser('/block')),
  'POST /admin/v1/users/end-session': operator(
    'user_sessions_ended',
    async () => {
      const user_id = `u${newState()}`
      await client.admin('POST', '/users', { ...USER, user_id, passport: user_id })
      await signIn(world.deps, { passport: user_id, password: USER.password, address: '127.0.0.1' })
      const { sessions } = (await client.admin('GET', `/users/${USER.cid}/${user_id}/sessions`)) as {
        sessions: { session_id: string }[]
      }
      const { session_id } = sessions[0] ?? {}
      return () => client.admin('POST', '/users/end-session', { cid: USER.cid, user_id, session_id })
    },
    { sessions: 1 },
  ),
  'POST /admin/v1/users/update': operator('user_updated', async () => {
    const { cid, user_id } = await client.makeUser()
    return () => client.admin('POST', '/users/update', { cid, user_id, name: 'Other' })
  }),
  'POST /admin/v1/users/unblock': operator('user_unblocked', onUser('/unblock')),
  'POST /admin/v1/partners': operator(
    'partner_created',
    async () => () => client.admin('POST', '/partners', { name: 'X' }),
  ),
  'PATCH /admin/v1/partners/:partner_id': operator('partner_updated', onPartner('PATCH', '', { name: 'Y' }), {
    before: { name: 'Audited' },
    after: { name: 'Y' },
  }),
  'POST /admin/v1/partners/:partner_id/suspend': operator('partner_suspended', onPartner('POST', '/suspend')),
  'POST /admin/v1/partners/:partner_id/activate': operator('partner_activated', onPartner('POST', '/activate')),
  'POST /admin/v1/partners/:partner_id/reset-breaker': operator(
    'partner_breaker_reset',
    onPartner('POST', '/reset-breaker'),
    { processes: 0 },
  ),
  'POST /admin/v1/partners/:partner_id/members': operator('member_invited', onPartner('POST', '/members', MEMBER)),
  'POST /admin/v1/partners/:partner_id/members/remove': operator('member_removed', removesMember),
  'POST /admin/v1/partners/:partner_id/stage': operator(
    'partner_stage_set',
    onPartner('POST', '/stage', { stage: 'live' }),
  ),
  'PUT /admin/v1/partners/:partner_id/contacts/product': operator(
    'partner_contact_set',
    onPartner('PUT', '/contacts/product', CONTACT),
  ),
  'PUT /admin/v1/partners/:partner_id/contacts/business': operator(
    'partner_contact_set',
    onPartner('PUT', '/contacts/business', CONTACT),
  ),
  'POST /admin/v1/partners/:partner_id/contacts/product/rotate-webhook-secret': rotatesWebhook('product'),
  'POST /admin/v1/partners/:partner_id/contacts/business/rotate-webhook-secret': rotatesWebhook('business'),
  'PUT /admin/v1/partners/:partner_id/aes-key': operator(
    'partner_aes_key_set',
    onPartner('PUT', '/aes-key', { aes_key: '0123456789abcdef' }),
  ),
  'POST /admin/v1/partners/:partner_id/make-aes-key': operator(
    'partner_aes_key_set',
    onPartner('POST', '/make-aes-key'),
  ),
  'DELETE /admin/v1/partners/:partner_id/aes-key': operator('partner_aes_key_removed', async () => {
    const id = await partner()
    await client.admin('PUT', `/partners/${id}/aes-key`, { aes_key: '0123456789abcdef' })
    return () => client.admin('DELETE', `/partners/${id}/aes-key`)
  }),
  'POST /admin/v1/partners/:partner_id/rotate-secret': operator(
    'partner_secret_rotated',
    onPartner('POST', '/rotate-secret'),
  ),
  'POST /admin/v1/partners/:partner_id/switch-signing': operator('partner_signing_switched', async () => {
    const id = await partner()
    await rotatePartnerSecret(world.deps, id, { overlap_s: 60 })
    return () =>
      switchSigning({ ...world.deps, actor: { kind: 'operator' } }, id, async () => ({ ok: true, detail: '' }))
  }),
  'POST /admin/v1/partners/:partner_id/retire-secret': operator('partner_secret_retired', async () => {
    const id = await partner()
    await rotatePartnerSecret(world.deps, id, { overlap_s: 60 })
    await switchSigning(world.deps, id, async () => ({ ok: true, detail: '' }))
    return () => client.admin('POST', `/partners/${id}/retire-secret`)
  }),
  'POST /admin/v1/grants/revoke': operator('grant_withdrawn', async () => {
    const { app, user, browser } = await consenting()
    await client.getCode(browser, app)
    return () => client.withdraw(user)
  }),
  'POST /admin/v1/users/end-sessions': operator('user_sessions_ended', async () => {
    const { cid, user_id } = await client.makeUser()
    return () => client.admin('POST', '/users/end-sessions', { cid, user_id })
  }),
  'POST /admin/v1/users/import': operator('users_imported', async () => {
    const user_id = `imported${newState()}`
    const password_hash = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    const { password: _, ...profile } = { ...USER, user_id, passport: user_id }
    return () => client.admin('POST', '/users/import', { dry_run: false, users: [{ ...profile, password_hash }] })
  }),
  'POST /admin/v1/users/reset-password': operator('user_password_link_made', onUser('/reset-password')),
  'POST /admin/v1/users/remove-factors': operator('user_factors_removed', async () => {
    const { cid, user_id } = await client.makeUser()
    await world.pool.query(
      `insert into user_totp (routing_key, cid, user_id, sealed, created_at, confirmed_at)
       select routing_key, cid, user_id, '', now(), now() from user_profile where user_id = $1`,
      [user_id],
    )
    return () => client.admin('POST', '/users/remove-factors', { cid, user_id, reason: 'lost the phone' })
  }),
  'POST /admin/v1/users/erase': operator('user_erased', onUser('/erase')),
  'POST /admin/v1/apps/:app_key/end-tokens': operator('app_tokens_ended', async () => {
    const { app_key } = await client.makeApp()
    return () => client.admin('POST', `/apps/${app_key}/end-tokens`)
  }),
  ...aboutOperators(),
  'POST /admin/v1/signing-keys/rotate': operator(
    'signing_key_made',
    async () => () => client.admin('POST', '/signing-keys/rotate', { alg: 'ES256' }),
  ),
  'POST /admin/v1/signing-keys/retire': operator('signing_key_retired', async () => {
    await rotateSigningKeys(world.deps, { alg: 'RS256' })
    const later = await rotateSigningKeys(world.deps, { alg: 'RS256' })
    const kid = later.find(({ signs_from }) => signs_from > world.clock.now())?.kid
    return () => client.admin('POST', '/signing-keys/retire', { kid })
  }),
  'POST /admin/v1/jobs/:job_id/retry': operator('job_retried', onJob('retry')),
  'POST /admin/v1/jobs/:job_id/give-up': operator('job_given_up', onJob('give-up', { reason: 'audited' })),
  'POST /admin/v1/jobs/:job_id/remove': operator('job_removed', onFailedJob('remove', { reason: 'audited' })),
  'a user signs in': {
    event: 'user_signed_in',
    actor: 'user',
    prepare: async () => {
      const [app, user] = [await client.makeApp(), await client.makeUser()]
      return () => client.signedIn(user, app)
    },
  },
  'a user allows': {
    event: 'user_consented',
    actor: 'user',
    prepare: async () => {
      const { app, browser } = await consenting()
      const form = await client.consentFormFor(browser, client.request(app))
      return () => browser.submit(form, { decision: 'approve' })
    },
  },
  'a user refuses': {
    event: 'user_denied_authorization',
    actor: 'user',
    prepare: async () => {
      const { app, browser } = await consenting()
      const form = await client.consentFormFor(browser, client.request(app))
      return () => browser.submit(form, { decision: 'refuse' })
    },
  },
  'a user refuses after approving': {
    event: 'grant_withdrawn',
    actor: 'user',
    prepare: async () => {
      const { app, browser } = await consenting()
      const form = await client.consentFormFor(browser, client.request(app))
      await browser.submit(form, { decision: 'approve' })
      return () => browser.submit(form, { decision: 'refuse' })
    },
  },
  'an app sends a used code again': {
    event: 'code_replayed',
    actor: 'app',
    prepare: async () => {
      const { app, browser } = await consenting()
      const consented = await client.getCode(browser, app)
      tokenSetOf(await client.exchange(app, consented))
      return () => client.exchange(app, consented)
    },
  },
  'an app sends a rotated refresh token again': {
    event: 'refresh_token_reused',
    actor: 'app',
    prepare: async () => {
      const { app, browser } = await consenting({ refresh_policy: 'rotating' })
      const { refresh_token } = await client.getTokens(browser, app)
      tokenSetOf(await client.refresh(app, refresh_token))
      return () => client.refresh(app, refresh_token)
    },
  },
}

/** Routes that are tested elsewhere: they write two rows (test/operators), the history of orders, or records of calls. */
const TESTED_ELSEWHERE = [/\/orders/, /\/products\//, /^POST \/admin\/v1\/operators$/]

const rows = async (where: World) =>
  (await where.pool.query('select event, actor, app_key, cid, user_id, detail from audit_event order by at, audit_id'))
    .rows
const newRows = async (work: () => Promise<unknown>) => {
  const before = (await rows(world)).map((row) => JSON.stringify(row))
  await work()
  return (await rows(world)).filter((row) => {
    const at = before.indexOf(JSON.stringify(row))
    if (at >= 0) before.splice(at, 1)
    return at < 0
  })
}

describe.each(Object.entries(OPERATIONS))('%s', (_name, { event, actor, detail = {}, prepare }) => {
  it(`leaves one row, ${event}`, async () => {
    const operation = await prepare()
    const left = await newRows(operation)
    expect(left).toMatchObject([{ event, actor, detail }])
    expect(JSON.stringify(left)).not.toMatch(/password":|_secret":"/)
  })

  it('changes nothing when its row cannot be written', async () => {
    const operation = await prepare()
    const before = await state()
    await world.pool.query(`create function fail() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
      create trigger fail before insert on audit_event for each row execute function fail()`)
    try {
      await operation().catch(() => {})
    } finally {
      await world.pool.query('drop trigger fail on audit_event; drop function fail')
    }
    expect(await state()).toEqual(before)
  })
})

const TABLES = [
  'micro_app',
  'micro_app_secret',
  'user_profile',
  'user_credential',
  'partner',
  'partner_secret',
  'partner_contact',
  'user_grant',
  'consent_decision',
  'operator',
  'operator_token',
  'signing_key',
  'password_link',
  'user_totp',
]
const rowsOf = (table: string) =>
  `(select coalesce(json_agg(t::text order by t::text), '[]') from ${table} t) as ${table}`
const state = async () => (await world.pool.query(`select ${TABLES.map(rowsOf).join()}`)).rows[0]

it('each audit event has a name in both languages', () => {
  const events = Object.values(OPERATIONS).map(({ event }) => event)
  const untranslated = events.filter((event) => !/[\u4e00-\u9fff]/.test(eventInWords(event, 'zh-CN')))
  expect(untranslated, 'add these to views/locales/events.zh-CN.json').toEqual([])
  expect(eventInWords('app_secret_rotated', 'en')).toBe('App secret rotated')
})

describe('the table of operations', () => {
  it('covers every operator route that changes something', () => {
    const changing = adminRoutes(world.app).filter((route) => !route.startsWith('GET '))
    expect(changing.length).toBeGreaterThan(15)
    const expected = changing.filter((route) => !TESTED_ELSEWHERE.some((other) => other.test(route)))
    expect(expected.sort(), 'each needs an entry in OPERATIONS above: its event, and how to cause it').toEqual(
      Object.keys(OPERATIONS)
        .filter((name) => name.includes('/admin/'))
        .sort(),
    )
  })
})

describe('the command line', () => {
  it('is recorded as the actor "cli"', async () => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const typed = ['--name', 'X', '--host', 'example.com', '--scope', 'USER_INFO', '--app-key', 'by-hand']
    const left = await newRows(() => gatehouse(settings, 'app', 'create', ...typed))
    expect(left).toMatchObject([{ event: 'app_created', actor: 'cli', app_key: 'by-hand' }])
  })
})
