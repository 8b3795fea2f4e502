import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { ROWS_OF_PERSON } from '../../src/authorization/people/store.ts'
import { openRefusalRecorder } from '../../src/authorization/refusals/index.ts'
import { openAccessLedger } from '../../src/authorization/resource/access-ledger.ts'
import { type App, Client, dataOf, envelopeOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { signInForm } from '../acceptance/form.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

/** Erasing a person, and exporting all their data, covers every module. */

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
})
afterAll(() => world?.close())

const previewPath = ({ cid, user_id }: User) => `/users/erase?cid=${cid}&user_id=${user_id}`
const erase = ({ cid, user_id }: User) => client.admin('POST', '/users/erase', { cid, user_id })
const cli = (...words: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...words)
const keyOf = ({ cid, user_id }: User) => ['--cid', String(cid), '--user-id', user_id]

/** A person with at least one row in nearly every table of people's data. */
async function makePerson() {
  const user = await client.makeUser({ phone_number: '13912345678' })
  const browser = await client.signedIn(user, app)
  const tokens = await client.getTokens(browser, app)
  const consented = await client.getCode(browser, app)
  dataOf(await client.userInfo(tokens.access_token))
  await world.app.accessLedger.flush()
  const person = [routingKeyOf(user.cid, user.user_id), user.cid, user.user_id]
  await client.admin('POST', '/users/reset-password', { cid: user.cid, user_id: user.user_id })
  await world.pool.query(
    `insert into user_totp (routing_key, cid, user_id, sealed, created_at) values ($1, $2, $3, '', now())`,
    person,
  )
  await world.pool.query(
    `insert into passkey (routing_key, credential_id, cid, user_id, public_key, counter, transports, name, created_at)
     values ($1, convert_to($3, 'UTF8'), $2, $3, '', 0, '{}', 'Phone', now())`,
    person,
  )
  await world.pool.query(
    `insert into recovery_code (routing_key, cid, user_id, code_hash, created_at) values ($1, $2, $3, '', now())`,
    person,
  )
  await world.pool.query(
    `insert into contact_change (routing_key, cid, user_id, kind, change_id, value, asked_at, expires_at)
     values ($1, $2, $3, 'phone', gen_random_uuid(), '13900000001', now(), now())`,
    person,
  )
  await world.pool.query("insert into profile_picture values ($1, $2, $3, gen_random_uuid(), 'x', now())", person)
  await world.pool.query("insert into remembered_consent values ($1, $2, $3, 'app', '{openid}', now())", person)
  await world.pool.query(
    `insert into refused_request values ($1, gen_random_uuid(), now(), 'A5', 'POST', 200, 20016, 'user_blocked', null, '',
       null, false, null, $2, $3)`,
    person,
  )
  await browser.send('POST', '/developer/terms', {})
  return { user, browser, tokens, consented }
}

const ROWS = {
  codes: 2,
  used_codes: 0,
  refresh_tokens: 1,
  access_tokens: 1,
  ended_access_tokens: 0,
  consent_decisions: 2,
  remembered_consents: 1,
  grants: 2,
  accesses: 1,
  refused_requests: 1,
  app_events: 0,
  deletion_requests: 0,
  team_members: 1,
  developers: 1,
  sessions: 1,
  sign_ins: 1,
  contact_changes: 1,
  passkeys: 1,
  pictures: 1,
  recovery_codes: 1,
  authenticators: 1,
  password_links: 1,
  credentials: 1,
  profile: 1,
}

it('every table that names a user or a grant is declared for erasure, except the audit log', async () => {
  const { rows } = await world.pool.query(
    `select distinct table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where (table_schema = 'public' or table_schema like 'shard_0%') and table_type = 'BASE TABLE' and column_name in ('user_id', 'grant_id', 'routing_key')`,
  )
  const kept = ['audit_event', 'audit_unsealed']
  expect(rows.map(({ table_name }) => table_name).sort()).toEqual(
    [...ROWS_OF_PERSON.map(({ table }) => table), ...kept].sort(),
  )
})

describe('an erasure', () => {
  it('previews the rows, then deletes all of them, and nobody else’s', async () => {
    const [one, other] = [await makePerson(), await makePerson()]
    const { user, tokens, browser, consented } = one
    expect(await client.admin('GET', previewPath(user))).toEqual({ cid: user.cid, user_id: user.user_id, rows: ROWS })
    const receipt = await erase(user)
    expect(receipt).toMatchObject({ cid: user.cid, user_id: user.user_id, rows: ROWS, receipt_id: expect.any(String) })
    expect(receipt.stays).toContainEqual({ what: 'orders', why: expect.stringContaining('accounting') })
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
    expectFailure(await client.phone(tokens.access_token), { rescode: 20009 })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
    expectFailure(await client.exchange(app, consented), { rescode: 20013 })
    expect(signInForm((await browser.open(client.authorizePath(client.request(app)))).text)).toBeDefined()
    await expect(erase(user)).rejects.toThrow('404')
    await expect(client.admin('GET', previewPath(user))).rejects.toThrow('404')
    expect(await client.admin('GET', previewPath(other.user))).toMatchObject({ rows: ROWS })
    dataOf(await client.userInfo(other.tokens.access_token))
    expect(envelopeOf(await client.exchange(app, other.consented)).rescode).toBe(0)
  })

  it('is audited without naming the person', async () => {
    const { user } = await makePerson()
    const { receipt_id } = await erase(user)
    const { rows } = await world.pool.query("select * from audit_event where event = 'user_erased' and target = $1", [
      `erasure:${receipt_id}`,
    ])
    expect(rows).toMatchObject([{ cid: null, user_id: null, routing_key: 0, detail: { rows: ROWS } }])
    for (const secret of [user.user_id, user.passport, '13912345678']) {
      expect(JSON.stringify(rows)).not.toContain(secret)
    }
  })

  it('is atomic', async () => {
    const { user } = await makePerson()
    await world.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger refuse before delete on user_credential for each row execute function refuse()`,
    )
    await expect(erase(user)).rejects.toThrow('500')
    await world.pool.query('drop trigger refuse on user_credential; drop function refuse')
    expect(await client.admin('GET', previewPath(user))).toMatchObject({ rows: ROWS })
    await erase(user)
  })

  it('leaves nothing behind of a concurrent sign-in, exchange and reads', async () => {
    const { user, tokens, consented } = await makePerson()
    const ledger = openAccessLedger(world.deps, world.app.sampledLog)
    const work = [
      client.signedIn(user, app).catch(() => {}),
      client.exchange(app, consented),
      ...Array.from({ length: 10 }, () => client.refresh(app, tokens.refresh_token)),
    ]
    for (let n = 0; n < 20; n++) ledger.count({ ...user, app_key: `app-${n}` }, 'phone')
    await Promise.all([erase(user), ledger.flush(), ...work])
    const left = await world.pool.query(
      `select (select count(*) from browser_session where user_id = $1) + (select count(*) from data_access where user_id = $1)
         + (select count(*) from user_grant where user_id = $1) as rows`,
      [user.user_id],
    )
    expect(left.rows).toEqual([{ rows: '0' }])
  })

  it('leaves a refused request that is written afterwards without the person', async () => {
    const { user } = await makePerson()
    const recorder = openRefusalRecorder(world.deps, world.app.sampledLog)
    const id = randomUUID()
    const note = { code: 20016, failure: 'user_blocked', user: { cid: user.cid, userId: user.user_id } }
    const url = '/oauth/v2/api/resource/get_userinfo'
    recorder.record({
      id,
      method: 'POST',
      url,
      status: 200,
      address: '127.0.0.1',
      note,
      authorization: undefined,
      body: undefined,
    })
    await erase(user)
    await recorder.close()
    const kept = await world.pool.query(
      'select routing_key, cid, user_id, failure from refused_request where request_id = $1',
      [id],
    )
    expect(kept.rows).toEqual([{ routing_key: 0, cid: null, user_id: null, failure: 'user_blocked' }])
  })

  it('makes reads written meanwhile wait, and then discards them', async () => {
    const { user } = await makePerson()
    const holder = await world.pool.connect()
    const ledger = openAccessLedger(world.deps, world.app.sampledLog)
    try {
      await holder.query('begin')
      await holder.query('select from user_profile where user_id = $1 for update', [user.user_id])
      await holder.query('delete from user_profile where user_id = $1', [user.user_id])
      ledger.count({ ...user, app_key: 'late' }, 'phone')
      const flushed = ledger.flush()
      await untilLocked(world.pool)
      await holder.query('commit')
      await flushed
      expect((await world.pool.query("select from data_access where app_key = 'late'")).rowCount).toBe(0)
    } finally {
      holder.release()
    }
  })

  it('on the command line previews the numbers, and then prints a receipt', async () => {
    const { user } = await makePerson()
    const first = await cli('user', 'erase', ...keyOf(user))
    expect(first.stdout).toMatch(
      /^This would be deleted for good:\n[\s\S]*\ncodes +2\n[\s\S]*\nRepeat with --yes to do it\.\n$/,
    )
    const done = await cli('user', 'erase', ...keyOf(user), '--yes')
    expect(done.stdout).toMatch(
      /\nreceipt_id +[0-9a-f-]{36}\nerased_at +\S+\ncodes +2\n[\s\S]*\nstays\nWHAT +WHY\naudit log +it shows/,
    )
    expect(await cli('user', 'erase', ...keyOf(user), '--yes')).toMatchObject({ code: 1, stderr: 'no such user\n' })
  })
})

describe('an export', () => {
  const exported = ({ cid, user_id }: User, reason = 'the person asks') =>
    client.call('GET', `/admin/v1/users/${cid}/${user_id}/export?${new URLSearchParams({ reason })}`, {
      authorization: `Bearer ${world.deps.config.ADMIN_TOKEN}`,
    })

  it('is JSON of all modules, without hashes, and is audited with its reason', async () => {
    const { user } = await makePerson()
    const answer = await exported(user)
    expect(answer.status).toBe(200)
    const data = JSON.parse(answer.text)
    expect(Object.fromEntries(Object.keys(ROWS).map((what) => [what, data[what].length]))).toEqual(ROWS)
    expect(data.profile[0]).toMatchObject({ phone_number: '13912345678', name: 'Test user' })
    expect(data.credentials).toEqual([{ passport: user.passport, passport_shown: null }])
    expect(data.events.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['user_created', 'user_signed_in', 'user_consented', 'user_exported']),
    )
    expect(answer.text).not.toMatch(/argon2|_hash|\\\\x/)
    const { rows } = await world.pool.query(
      "select detail from audit_event where event = 'user_exported' and user_id = $1",
      [user.user_id],
    )
    expect(rows).toEqual([{ detail: { reason: 'the person asks' } }])
    const printed = await cli('user', 'export', ...keyOf(user), '--reason', 'the person asks')
    expect(Object.keys(JSON.parse(printed.stdout))).toEqual(Object.keys(data))
  })

  it('requires a reason and an existing person', async () => {
    const { user } = await makePerson()
    expect((await exported(user, '')).status).toBe(400)
    expect((await exported({ ...user, user_id: 'nobody' })).status).toBe(404)
  })

  it('has every row exactly once, however many there are', async () => {
    const { user } = await makePerson()
    await world.pool.query(
      `insert into data_access select routing_key, cid, user_id, '2026-05-01'::timestamptz + n / 4 * interval '1 hour',
         'app-' || n % 2, case when n % 4 < 2 then 'phone' else 'profile' end, n, '2026-05-02'
       from user_profile, generate_series(1, 2300) n where user_id = $1`,
      [user.user_id],
    )
    const { accesses } = JSON.parse((await exported(user)).text)
    expect(accesses).toHaveLength(2301)
    expect(new Set(accesses.map(({ reads }: { reads: number }) => reads)).size).toBe(2300)
  })
})
