import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createOperator,
  disableOperator,
  newOperatorToken,
  revokeOperatorToken,
  setOperatorPassword,
  setOperatorRole,
} from '../../src/operations/operators/index.ts'
import { sealAudit } from '../../src/platform/audit/index.ts'
import { ADMIN_TOKEN, MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { until } from '../until.ts'

/** Operators over the admin API: authentication, roles, tokens, and the audit of them. */

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

async function call(method: 'GET' | 'POST', path: string, token: string, body?: object, where = world) {
  const headers = { authorization: `Bearer ${token}` }
  const url = `/admin/v1${path}`
  const response = await where.app.inject({ method, url, headers, ...(body ? { payload: body } : {}) })
  return { status: response.statusCode, ...response.json() }
}
let serial = 0
const made = async (role: string, where = world) => {
  const name = `op${++serial}`
  const { data } = await call('POST', '/operators', ADMIN_TOKEN, { name, role }, where)
  return { name, token: data.token, token_id: data.token_id }
}
const events = async (target: string) =>
  (
    await world.pool.query(
      'select event, actor, actor_name, outcome, request_id, address, detail from audit_event where target = $1 order by at, event',
      [target],
    )
  ).rows

it('a token whose form is sent twice is made once', async () => {
  const { name } = await made('viewer')
  const token_id = '6e2c6a0e-0d3b-4c57-9d52-0d6f3f0f7a11'
  const make = () => call('POST', `/operators/${name}/tokens`, ADMIN_TOKEN, { token_id })
  expect(await make()).toMatchObject({ status: 200, data: { token_id } })
  expect(await make()).toMatchObject({ status: 400 })
  await world.pool.query('delete from operator_token')
  await world.pool.query('delete from operator')
})

it('operators are listed page by page, each with its tokens', async () => {
  const names: string[] = []
  for (let n = 0; n < 3; n++) names.push((await made('viewer')).name)
  const listed: string[] = []
  let after = ''
  do {
    const { data } = await call('GET', `/operators?limit=2${after && `&after=${after}`}`, ADMIN_TOKEN)
    expect(data.operators.length).toBeLessThanOrEqual(2)
    for (const { name, tokens } of data.operators) {
      listed.push(name)
      expect(tokens, name).toHaveLength(1)
    }
    after = data.next
  } while (after)
  expect(listed).toEqual(names)
})

describe('an operator', () => {
  it('is created with a token that is shown once and stored as a hash', async () => {
    const { data } = await call('POST', '/operators', ADMIN_TOKEN, { name: 'lin', role: 'editor' })
    expect(data).toMatchObject({
      name: 'lin',
      role: 'editor',
      status: 'active',
      token: expect.stringMatching(/^ghop_/),
    })
    expect(await call('GET', '/apps', data.token)).toMatchObject({ status: 200, data: { apps: [] } })
    const listed = await call('GET', '/operators', ADMIN_TOKEN)
    expect(JSON.stringify(listed)).not.toContain(data.token)
    const { rows } = await world.pool.query('select t::text from operator_token t')
    expect(JSON.stringify(rows)).not.toContain(data.token)
    expect(world.logged()).not.toContain(data.token)
    expect(await events('operator:lin')).toMatchObject([
      { event: 'operator_created', actor: 'operator', actor_name: 'ADMIN_TOKEN', address: '127.0.0.1' },
      { event: 'operator_token_made', detail: { token_id: data.token_id, role: 'editor' } },
    ])
  })

  it('cannot have a common password, nor its name as password', async () => {
    await call('POST', '/operators', ADMIN_TOKEN, { name: 'the-operator-of-ours', role: 'viewer' })
    for (const [password, problem] of [
      ['1QAZ2wsx3edc', 'is among those that attackers try first: choose another one'],
      ['The-Operator-Of-Ours', 'is what one signs in with: choose another one'],
    ]) {
      const refused = await call('POST', '/operators/the-operator-of-ours/password', ADMIN_TOKEN, { password })
      expect(refused).toMatchObject({ status: 400, data: { problems: [{ field: 'password', problem }] } })
    }
    const row = "select password_hash from operator where name = 'the-operator-of-ours'"
    expect((await world.pool.query(row)).rows).toEqual([{ password_hash: null }])
  })

  it('has a unique name', async () => {
    await call('POST', '/operators', ADMIN_TOKEN, { name: 'twin', role: 'viewer' })
    const again = await call('POST', '/operators', ADMIN_TOKEN, { name: 'TWIN', role: 'viewer' })
    expect(again).toMatchObject({ status: 400, data: { problems: [{ field: 'name', problem: 'is already taken' }] } })
    expect(await call('POST', '/operators', ADMIN_TOKEN, { name: 'admin_token', role: 'viewer' })).toMatchObject({
      status: 400,
    })
  })

  it('is denied what its role does not allow, with an explanation, an audit row and a log line', async () => {
    const { name, token } = await made('viewer')
    const refused = await call('POST', '/apps/none/suspend', token)
    expect(refused).toMatchObject({
      status: 403,
      rescode: 20003,
      data: {
        message:
          'Request forbidden: POST /admin/v1/apps/:app_key/suspend needs the role editor; this operator is viewer',
      },
    })
    const { rows } = await world.pool.query(
      "select * from audit_event where event = 'operator_refused' and actor_name = $1",
      [name],
    )
    expect(rows).toMatchObject([{ outcome: 'refused', target: 'POST /admin/v1/apps/:app_key/suspend' }])
    expect(world.logged()).toContain(`"operator":"${name}"`)
  })

  it('is bound to a lowered role from the next request on, even with an old token', async () => {
    const { name, token } = await made('editor')
    await call('POST', `/operators/${name}/role`, ADMIN_TOKEN, { role: 'viewer' })
    expect(await call('POST', '/apps/none/suspend', token)).toMatchObject({ status: 403 })
    expect(await events(`operator:${name}`)).toContainEqual(
      expect.objectContaining({
        event: 'operator_role_set',
        detail: { before: { role: 'editor' }, after: { role: 'viewer' } },
      }),
    )
  })

  it('loses access immediately when disabled, and regains it when enabled', async () => {
    const { name, token } = await made('viewer')
    await call('POST', `/operators/${name}/disable`, ADMIN_TOKEN)
    expect(await call('GET', '/apps', token)).toMatchObject({ status: 401 })
    await call('POST', `/operators/${name}/enable`, ADMIN_TOKEN)
    expect(await call('GET', '/apps', token)).toMatchObject({ status: 200 })
  })

  it('may have further tokens, with a lower role if wanted, which expire or are revoked', async () => {
    const { name, token_id, token } = await made('editor')
    const more = await call('POST', `/operators/${name}/tokens`, ADMIN_TOKEN, { role: 'viewer', days: 1 })
    expect(await call('POST', '/apps/none/suspend', more.data.token)).toMatchObject({ status: 403 })
    const above = await call('POST', `/operators/${name}/tokens`, ADMIN_TOKEN, { role: 'admin' })
    expect(above).toMatchObject({ status: 400, data: { problems: [{ field: 'role' }] } })
    expect(await call('POST', `/operators/${name}/tokens/revoke`, ADMIN_TOKEN, { token_id })).toMatchObject({
      status: 200,
    })
    expect(await call('GET', '/apps', token)).toMatchObject({ status: 401 })
    expect(await call('POST', `/operators/${name}/tokens/revoke`, ADMIN_TOKEN, { token_id })).toMatchObject({
      status: 404,
    })
    world.clock.advance(86_401)
    expect(await call('GET', '/apps', more.data.token)).toMatchObject({ status: 401 })
  })

  it('has the last use of a token recorded at most once a minute', async () => {
    const { token, token_id } = await made('viewer')
    const used = async () =>
      (await world.pool.query('select last_used_at from operator_token where token_id = $1', [token_id])).rows[0]
        .last_used_at
    await call('GET', '/apps', token)
    const first = await used()
    expect(first).toEqual(world.clock.now())
    world.clock.advance(59)
    await call('GET', '/apps', token)
    expect(await used()).toEqual(first)
    world.clock.advance(2)
    await call('GET', '/apps', token)
    expect(await used()).toEqual(world.clock.now())
  })
})

describe('the last admin', () => {
  it('cannot be demoted without an ADMIN_TOKEN, not even by two demotions at once', async () => {
    const bare = await openWorld({ ADMIN_TOKEN: '' })
    try {
      await createOperator(bare.deps, { name: 'first', role: 'admin', days: 1 })
      await createOperator(bare.deps, { name: 'second', role: 'admin', days: 1 })
      const answers = await Promise.allSettled(
        ['first', 'second'].map((name) => setOperatorRole(bare.deps, { name, role: 'viewer' })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const { rows } = await bare.pool.query("select 1 from operator where role = 'admin' and status = 'active'")
      expect(rows).toHaveLength(1)
    } finally {
      await bare.close()
    }
  })

  it('is the last one who can sign in: admins without a password or an admin token do not count', async () => {
    const bare = await openWorld({ ADMIN_TOKEN: '' })
    try {
      const of = (name: string) => createOperator(bare.deps, { name, role: 'admin', days: 1 })
      const { deps, clock } = bare
      await of('gone')
      clock.advance(2 * 86_400)
      const lesser = await of('lesser')
      await newOperatorToken(deps, { name: 'lesser', role: 'viewer', token_name: 'low', days: 1 })
      const last = await of('last')
      await revokeOperatorToken(deps, { name: 'lesser', token_id: lesser.token_id })
      const refused = { message: expect.stringContaining('this is the last active admin who can sign in') }
      await expect(disableOperator(deps, { name: 'last' })).rejects.toMatchObject(refused)
      await expect(setOperatorRole(deps, { name: 'last', role: 'editor' })).rejects.toMatchObject(refused)
      const revoke = () => revokeOperatorToken(deps, { name: 'last', token_id: last.token_id })
      await expect(revoke()).rejects.toMatchObject(refused)
      await disableOperator(deps, { name: 'gone' })
      const other = await newOperatorToken(deps, { name: 'last', token_name: 'other', days: 1 })
      await revoke()
      await setOperatorPassword(deps, { name: 'last', password: 'a long enough password' })
      await revokeOperatorToken(deps, { name: 'last', token_id: other.token_id })
      await expect(disableOperator(deps, { name: 'last' })).rejects.toMatchObject(refused)
    } finally {
      await bare.close()
    }
  })

  it('keeps a token if the last two are revoked at once', async () => {
    const bare = await openWorld({ ADMIN_TOKEN: '' })
    try {
      const [one, two] = [
        await createOperator(bare.deps, { name: 'one', role: 'admin', days: 1 }),
        await createOperator(bare.deps, { name: 'two', role: 'admin', days: 1 }),
      ]
      const answers = await Promise.allSettled(
        [one, two].map(({ name, token_id }) => revokeOperatorToken(bare.deps, { name, token_id })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    } finally {
      await bare.close()
    }
  })

  it('may be disabled if ADMIN_TOKEN is set', async () => {
    const { name } = await made('admin')
    expect(await call('POST', `/operators/${name}/disable`, ADMIN_TOKEN)).toMatchObject({ status: 200 })
  })
})

describe('a wrong token', () => {
  it('is logged, audited up to a limit, and finally rate-limited', async () => {
    const other = await openWorld()
    try {
      const answers: number[] = []
      for (let tried = 0; tried < 35; tried++) {
        answers.push((await call('GET', '/apps', `wrong-${tried}`, undefined, other)).status)
      }
      expect(answers.slice(0, 30)).toEqual(Array(30).fill(401))
      expect(answers.slice(30)).toEqual(Array(5).fill(429))
      expect((await call('GET', '/apps', ADMIN_TOKEN, undefined, other)).status).toBe(200)
      expect(other.logged()).toContain('a wrong operator token was refused')
      const { rows } = await other.pool.query("select outcome from audit_event where event like 'operator_sign_in%'")
      expect(rows).toHaveLength(10)
    } finally {
      await other.close()
    }
  })
})

it('audited events are sealed', async () => {
  await made('viewer')
  await until(async () => (await sealAudit(world.deps)) === 0)
  const { rows } = await world.pool.query('select count(*)::int as waiting from audit_unsealed')
  expect(rows).toEqual([{ waiting: 0 }])
})
