import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { recordAudit, sealAudit, verifyAudit } from '../../src/platform/audit/index.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { openWorld, type World } from '../harness.ts'

/** The chain of the audit log reveals rows that were removed or altered by hand. */

let world: World
let begin: number
beforeAll(async () => {
  world = await openWorld()
  begin = world.clock.now().getTime()
})
beforeEach(async () => {
  await query('truncate audit_event, audit_unsealed, audit_seal')
  world.clock.advance((begin - world.clock.now().getTime()) / 1_000)
})
afterAll(() => world.close())

const write = async (count: number) => {
  for (let written = 0; written < count; written++) {
    world.clock.advance(1)
    await recordAudit(world.deps, { event: 'app_updated', appKey: `app${written}`, detail: { n: written, text: '票' } })
  }
}
const query = (text: string) => world.pool.query(text)
const verify = (head?: string) => verifyAudit(world.deps, { head })

it('the log is intact over several seals, and unsealed rows are counted', async () => {
  await write(3)
  expect(await verify()).toMatchObject({ intact: true, rows: 0, unsealed: 3, outside: 0, head: null })
  expect(await sealAudit(world.deps)).toBe(3)
  await write(2)
  await sealAudit(world.deps)
  await write(1)
  expect(await verify()).toMatchObject({
    intact: true,
    rows: 5,
    seals: 2,
    unsealed: 1,
    outside: 0,
    head: expect.stringMatching(/^2:[0-9a-f]{64}$/),
  })
})

it('several processes seal more rows than fit into one seal, each once', async () => {
  await query(`with written as (insert into audit_event (at, event) select now(), 'app_updated' from generate_series(1, 1200) returning routing_key, audit_id)
    insert into audit_unsealed select routing_key, audit_id from written`)
  const sealed = await Promise.all([sealAudit(world.deps), sealAudit(world.deps), sealAudit(world.deps)])
  expect(sealed.reduce((sum, rows) => sum + rows)).toBe(1200)
  expect(await verify()).toMatchObject({ intact: true, rows: 1200, seals: 3, unsealed: 0 })
})

describe('tampering with the database', () => {
  const problems = async () => (await verify()).problems.map(({ problem }) => problem)
  beforeEach(async () => {
    await write(3)
    await sealAudit(world.deps)
    await write(3)
    await sealAudit(world.deps)
  })

  it('that removes a row is detected, with the id of the row', async () => {
    const { rows } = await query(
      "delete from audit_event where detail ->> 'n' = '1' and at < '2026-05-06T10:34:23Z' returning audit_id",
    )
    expect(await verify()).toMatchObject({
      intact: false,
      rows: 5,
      outside: 0,
      problems: [{ seal_no: 1n, audit_id: rows[0].audit_id, problem: 'the row is missing' }],
    })
  })

  it.each(["actor = 'cli'", "at = at + interval '1 second'", 'detail = detail || \'{"n": 7}\'', "request_id = 'x'"])(
    'that alters a row is detected: %s',
    async (change) => {
      await query(`update audit_event set ${change}`)
      expect(new Set(await problems())).toEqual(new Set(['the row was altered']))
    },
  )

  it('that removes or alters a seal is detected', async () => {
    await query("update audit_seal set last_at = last_at + interval '1 day' where seal_no = 1")
    expect(await problems()).toEqual(['the seal was altered'])
    await query('delete from audit_seal where seal_no = 1')
    expect(await problems()).toContain('a seal before this one is missing')
  })

  it('that makes rows and seals consistent again is detected, as it lacks the key', async () => {
    await query("update audit_event set event = 'app_created' where detail ->> 'n' = '0'")
    await query("update audit_seal set row_digests = decode(repeat('00', 48), 'hex')")
    expect(await problems()).toContain('the seal was altered')
  })

  it('that adds a row is detected', async () => {
    await query("insert into audit_event (at, event) values (now(), 'app_updated')")
    expect(await verify()).toMatchObject({ intact: false, outside: 1 })
    expect(await problems()).toEqual(['1 rows are in no seal: they were inserted by hand'])
  })

  it('that adds a row is detected, although it looks old enough to be purged soon', async () => {
    await query("insert into audit_event (at, event) values ('2020-01-01', 'app_updated')")
    expect(await verify()).toMatchObject({ intact: false, rows: 6, outside: 1, unproved_before: null })
  })

  it('that cuts off the end is detected with the head of an earlier verification', async () => {
    const { head } = await verify()
    expect(await verify(head ?? '')).toMatchObject({ intact: true })
    await query('delete from audit_event using audit_seal where seal_no = 2 and audit_id = any(audit_ids)')
    await query('delete from audit_seal where seal_no = 2')
    expect(await verify()).toMatchObject({ intact: true })
    expect(await verify(head ?? '')).toMatchObject({ intact: false })
  })

  it('that removes a row before it is sealed is detected too', async () => {
    await write(1)
    await query('delete from audit_event where audit_id in (select audit_id from audit_unsealed)')
    await sealAudit(world.deps)
    expect(await problems()).toEqual(['the row is missing'])
  })
})

describe('after a change of SECRET_KEY', () => {
  const other = 'another key of thirty-two characters'
  const withBoth = () =>
    verifyAudit({ ...world.deps, keys: deriveKeys('the newest of thirty-two characters', [other]) }, {})
  beforeEach(async () => {
    await write(2)
    await sealAudit({ ...world.deps, keys: deriveKeys(other) })
  })
  const keyId = async () => (await query('select key_id from audit_seal')).rows[0].key_id

  it('the log is not intact if the previous key is unknown, and that key is named once', async () => {
    await write(2)
    await sealAudit({ ...world.deps, keys: deriveKeys(other) })
    const problem = `cannot be verified: key ${await keyId()} is not among SECRET_KEY and SECRET_KEYS_OLD`
    expect(await verify()).toMatchObject({ intact: false, rows: 0, seals: 2, other_key: 2, unverifiable: true })
    expect((await verify()).problems).toMatchObject([{ seal_no: 1n, audit_id: null, problem }])
  })

  it('the log is intact if the previous key is among the old ones', async () => {
    expect(await withBoth()).toMatchObject({ intact: true, rows: 2, other_key: 0, unverifiable: false, problems: [] })
  })

  it('a seal relabelled with another key is detected, whether or not that key is known', async () => {
    await write(1)
    await sealAudit({ ...world.deps, keys: deriveKeys('the newest of thirty-two characters') })
    await query('update audit_seal set key_id = (select key_id from audit_seal where seal_no = 2) where seal_no = 1')
    expect((await withBoth()).problems).toContainEqual(expect.objectContaining({ problem: 'the seal was altered' }))
    await query("update audit_seal set key_id = '00000000' where seal_no = 1")
    expect(await withBoth()).toMatchObject({ intact: false })
  })

  it('a seal after an unverifiable one is still checked against it', async () => {
    await write(1)
    await sealAudit({ ...world.deps, keys: deriveKeys(other) })
    await write(1)
    await sealAudit(world.deps)
    await query('update audit_seal set chain = before_chain where seal_no = 2')
    const { problems } = await verify()
    expect(problems.map(({ problem }) => problem)).toContain('the seal was altered')
  })
})

describe('once old rows are purged', () => {
  const problems = async () => (await verify()).problems.map(({ problem }) => problem)
  beforeEach(async () => {
    for (let seal = 0; seal < 3; seal++) {
      await write(2)
      await sealAudit(world.deps)
    }
    world.clock.advance(1_096 * 86_400)
    for (let seal = 0; seal < 2; seal++) {
      await write(2)
      await sealAudit(world.deps)
    }
    expect((await purge(world.deps, {})).deleted).toMatchObject({ audit_event: 6, audit_seal: 3 })
  })

  it('verification begins with the first remaining seal', async () => {
    const unproved_before = new Date(world.clock.now().getTime() - 1_095 * 86_400_000)
    expect(await verify()).toMatchObject({ intact: true, rows: 4, seals: 2, outside: 0, unproved_before })
  })

  it('tampering that removes more, as if it were old, is detected', async () => {
    await query('delete from audit_event using audit_seal where seal_no = 4 and audit_id = any(audit_ids)')
    await query('delete from audit_seal where seal_no = 4')
    expect(await problems()).toEqual(['a seal before this one is missing'])
    await query("update audit_seal set before_at = '2020-01-01'")
    expect(await problems()).toEqual(['the seal was altered'])
  })

  it.each([
    ["last_at = last_at + interval '1 day'"],
    ["first_at = '2020-01-01'"],
    ['audit_ids = array_replace(audit_ids, audit_ids[1], audit_ids[2])'],
    ["before_chain = decode(repeat('00', 32), 'hex')"],
    ["before_chain = decode('', 'hex')"],
  ])('tampering that alters the first remaining seal is detected: %s', async (change) => {
    await query(`update audit_seal set ${change} where seal_no = 4`)
    expect(await problems()).toContain('the seal was altered')
  })
})

describe('once AUDIT_DAYS was raised after a purge', () => {
  const daysAgo = (days: number) => new Date(world.clock.now().getTime() - days * 86_400_000)
  const verifyWith = (AUDIT_DAYS: number, days?: number) =>
    verifyAudit(
      { ...world.deps, config: { ...world.deps.config, AUDIT_DAYS } },
      days === undefined ? {} : { purged_before: daysAgo(days) },
    )
  beforeEach(async () => {
    await write(2)
    await sealAudit(world.deps)
    world.clock.advance(20 * 86_400)
    await write(1)
    world.clock.advance(20 * 86_400)
    await write(1)
    await sealAudit(world.deps)
    await purge({ ...world.deps, config: { ...world.deps.config, AUDIT_DAYS: 30 } }, {})
  })

  it.each([1_095, 0])('to %i, the log is intact for who says what had been purged by then', async (days) => {
    expect(await verifyWith(days)).toMatchObject({ intact: false })
    expect(await verifyWith(days, 30)).toMatchObject({ intact: true, rows: 2, seals: 1, outside: 0 })
    expect(await verifyWith(days, 60)).toMatchObject({ intact: false })
  })
})

it('a purge that has removed seals before their rows, or rows before their seals, leaves the log intact', async () => {
  await write(2)
  await sealAudit(world.deps)
  world.clock.advance(1_096 * 86_400)
  await write(2)
  await sealAudit(world.deps)
  await query('delete from audit_seal where seal_no = 1')
  expect(await verify()).toMatchObject({ intact: true, rows: 2, outside: 0 })
})

it('rows older than AUDIT_DAYS may be missing', async () => {
  await write(2)
  await sealAudit(world.deps)
  await query('delete from audit_event')
  expect(await verify()).toMatchObject({ intact: false })
  world.clock.advance(1_096 * 86_400)
  expect(await verify()).toMatchObject({ intact: true, purged: 2 })
})
