import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill, VISITOR } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** Calls and notices of all partners, and certification runs, as operators see them. */

let world: World
let filled: Filled
let viewer: Person
let support: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  viewer = (await signedIn(world, 'viewer')).person
  support = (await signedIn(world, 'support')).person
})
afterAll(() => world.close())

const insertNotices = (from: number, to: number, path: string) =>
  world.pool.query(
    `insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
     select 'c', $4, sha256(($4 || n)::bytea), gen_random_uuid(), $5, $3::timestamptz - n * interval '1 s', '{}', '{"code":200}'
     from generate_series($1::int, $2::int) n`,
    [from, to, world.clock.now(), path, filled.partner_id],
  )
const nextOf = (page: string): string => /href="(\?[^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('the list', () => {
  it('has calls in both directions, each with its page', async () => {
    const { text } = await viewer.get('/console/traffic')
    expect(text).toContain('Platform → partner: Order query')
    expect(text).toContain(`/console/traffic/${filled.partner_id}/call/${filled.id}`)
    expect(text).toContain(`/console/traffic/${filled.partner_id}/rejected/`)
    expect((await viewer.get('/console/traffic?partner_id=1')).text).toContain('No call fits the filter.')
    expect((await viewer.get('/console/traffic?code=300')).text).toContain('/rejected/')
    expect((await viewer.get('/console/traffic?code=300')).text).not.toContain('/call/')
    expect((await viewer.get('/console/traffic?to=2020-01-01')).text).toContain('No call fits the filter.')
    expect((await viewer.get('/console/traffic?code=x')).status).toBe(400)
  })

  it('goes on from page to page, every call once', async () => {
    await insertNotices(1, 120, '/mtp/api/order/consume/notice')
    const seen: string[] = []
    for (let query = '?path=consume'; query !== '' && seen.length < 500; ) {
      const { text } = await viewer.get(`/console/traffic${query}`)
      seen.push(...[...text.matchAll(/\/notice\/([0-9a-f-]{36})"/g)].map(([, id = '']) => id))
      query = nextOf(text)
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  it('looks through a thousand calls at a time for a path, and says that there is more', async () => {
    await insertNotices(200, 1_400, '/mtp/api/order/consume/notice')
    await insertNotices(5_000, 5_000, '/far/away')
    const first = (await viewer.get('/console/traffic?path=%2Ffar%2F')).text
    expect(first).toContain('The next page looks further back.')
    const second = (await viewer.get(`/console/traffic${nextOf(first)}`)).text
    expect(second).toContain('/far/away')
    expect(nextOf(second)).toBe('')
  })
})

describe('a call', () => {
  const page = () => addressOf('/traffic/:partner_id/:kind/:id', filled)

  it('is shown with its reason and links, without personal data, to everybody', async () => {
    for (const who of [viewer, support]) {
      const { text } = await who.get(page())
      expect(text).toContain('***')
      expect(text).not.toContain(VISITOR)
      expect(text).toContain('href="/console/orders/88001"')
    }
    const other = `/console/traffic/1/call/${filled.id}`
    expect((await viewer.get(other)).status).toBe(404)
    expect((await viewer.get(`/console/traffic/${filled.partner_id}/call/${randomUUID()}`)).status).toBe(404)
  })

  it('whose body is no JSON shows none of it', async () => {
    const { call_id } = (await world.pool.query('select call_id from rejected_call limit 1')).rows[0]
    const { text } = await viewer.get(`/console/traffic/${filled.partner_id}/rejected/${call_id}`)
    expect(text).toContain('It cannot be read as JSON and may hold personal data')
    expect(text).toContain(`href="/console/requests/${call_id}"`)
    expect(text).not.toContain('<pre')
  })

  it("that was refused says why in the reader's language, wherever it is listed", async () => {
    const { call_id, client_id } = (
      await world.pool.query(
        `update rejected_call set reason = 'the signature does not match' where call_id = (select call_id from rejected_call limit 1)
         returning call_id, client_id`,
      )
    ).rows[0]
    for (const path of [`requests/${call_id}?`, `search?q=${client_id}&`, 'traffic?']) {
      const { text } = await support.get(`/console/${path}ui_locales=zh-CN`)
      expect(text, path).toContain('签名不匹配')
      expect(text, path).not.toContain('the signature does not match')
    }
  })

  it('is shown whole to support with a reason, which is kept', async () => {
    expect((await viewer.get(page())).text).not.toContain('/unmask')
    expect((await support.submit(`${page()}/unmask`, { reason: '' })).status).toBe(400)
    const { text } = await support.submit(`${page()}/unmask`, { reason: 'the visitor asked' })
    expect(text).toContain(VISITOR)
    const { rows } = await world.pool.query("select * from audit_event where event = 'personal_data_read'")
    expect(rows).toMatchObject([
      { target: `call:${filled.id}`, partner_id: filled.partner_id, detail: { reason: 'the visitor asked' } },
    ])
  })
})

it('a partner shows its certification runs, and a run its steps', async () => {
  const partner = await viewer.get(addressOf('/partners/:partner_id', filled))
  expect(partner.text).toContain(`/runs/${filled.run_id}`)
  expect(partner.text).toContain('0 / 1')
  const run = await viewer.get(addressOf('/partners/:partner_id/runs/:run_id', filled))
  expect(run.text).toContain('<code>heartbeat</code>')
  expect(run.text).toContain('Not tried yet')
  expect((await viewer.get(`/console/partners/${filled.partner_id}/runs/${randomUUID()}`)).status).toBe(404)
})
