import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createMicroApp } from '../../src/authorization/registry/micro-app.ts'
import { newMicroApp } from '../../src/authorization/registry/wire.ts'
import { startDemo } from '../../src/demo/index.ts'
import { DEMO_PARTNER, seedDemo } from '../../src/demo/seed.ts'
import { verifyPassword } from '../../src/platform/lib/crypto/password.ts'
import { findPartner, listPartners, updatePartner } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { signedHeaders } from '../signer.ts'

let world: World
beforeEach(async () => {
  world = await openWorld({ PORT: '0' })
})
afterEach(() => world.close())

const partners = async () =>
  (await listPartners(world.deps, { limit: 100 })).partners.map(({ partner_id, client_id }) => ({
    partner_id,
    client_id,
  }))
const ONE = [{ partner_id: 7001n, client_id: 'demo-partner' }]

it('seeds users whose hashes match their passwords', async () => {
  await seedDemo(world.deps)
  const { rows } = await world.pool.query('select passport, password_hash from user_credential order by passport')
  expect(rows.map(({ passport }) => passport)).toEqual(['alice', 'bob', 'mallory'])
  for (const { passport, password_hash } of rows) {
    expect([passport, await verifyPassword(password_hash, `${passport}-password`)]).toEqual([passport, true])
  }
})

it('seeds no user while a real person has a passport of the demo', async () => {
  const person = await world.pool.connect()
  try {
    await person.query('begin')
    await person.query(
      "insert into user_credential (passport, password_hash, routing_key, cid, user_id) values ('alice', '', 1, 7, 'x')",
    )
    const seeded = seedDemo(world.deps).then(
      () => 'seeded',
      ({ message }: Error) => message,
    )
    await untilLocked(world.pool)
    await person.query('commit')
    expect(await seeded).toContain('alice')
  } finally {
    person.release(true)
  }
  const { rows } = await world.pool.query('select from user_profile')
  expect(rows).toEqual([])
})

describe('seeding the demo partner', () => {
  it('happens once, even by several processes at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => seedDemo(world.deps)))
    await seedDemo(world.deps)
    expect(await partners()).toEqual(ONE)
    const [secret] = (await findPartner(world.deps, 7001n))?.secrets ?? []
    expect(secret).toMatchObject({ secret: DEMO_PARTNER.secret, signs: true })
  })

  it('adds the partner to a demo that was seeded before there were partners', async () => {
    await seedDemo(world.deps)
    await world.pool.query('delete from partner')
    await seedDemo(world.deps)
    expect(await partners()).toEqual(ONE)
  })

  it("leaves another service's database alone", async () => {
    const app = { name: 'Mine', hosts: ['example.com'], scopes: ['USER_INFO'] }
    await createMicroApp(world.deps, newMicroApp.parse(app))
    await seedDemo(world.deps)
    expect(await partners()).toEqual([])
    const demo = await startDemo(world.deps, world.log)
    await demo.stop()
  })
})

describe('the demo partner beside the service', () => {
  const started = async () => {
    await seedDemo(world.deps)
    const demo = await startDemo(world.deps, world.log)
    const partner = await findPartner(world.deps, 7001n)
    return { demo, base_url: partner?.base_url ?? '' }
  }

  it('answers at the registered URL, whatever port it got', async () => {
    const { demo, base_url } = await started()
    expect(base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}$/)
    const date = world.clock.now().toUTCString()
    const credentials = { ...DEMO_PARTNER, partnerId: '7001', clientSecret: DEMO_PARTNER.secret }
    const headers = { ...signedHeaders(credentials, { path: '/alive', date }) }
    const answer = await fetch(`${base_url}/alive`, { method: 'POST', headers, body: '{"partnerId":7001}' })
    expect(await answer.json()).toEqual({ code: 200, describe: 'success', partnerId: '7001' })
    await demo.stop()
    await expect(fetch(base_url)).rejects.toThrow()
  })

  it('keeps the URL of a program on this machine that answers there', async () => {
    const own = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    onTestFinished(() => void own.close())
    await once(own, 'listening')
    const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}`
    await seedDemo(world.deps)
    await updatePartner(world.deps, 7001n, { base_url: url })
    const { demo, base_url } = await started()
    expect(base_url).toBe(url)
    await demo.stop()
  })

  it('keeps a URL that somebody has set', async () => {
    await seedDemo(world.deps)
    await updatePartner(world.deps, 7001n, { base_url: 'https://tickets.example.com/api' })
    const { demo, base_url } = await started()
    expect(base_url).toBe('https://tickets.example.com/api')
    await demo.stop()
  })
})
