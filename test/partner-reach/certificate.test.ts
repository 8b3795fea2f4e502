import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { existingPartner } from '../../src/ticketing/partner-calls/index.ts'
import { noteCertificate } from '../../src/ticketing/partner-reach/index.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { acceptAnyCertificate } from '../any-certificate.ts'
import { openWorld, type World } from '../harness.ts'
import { duringOutage } from '../outage.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { SELF_SIGNED } from '../sandbox/certificates.ts'

/** The expiry of partners' certificates is learnt from the calls that are made anyway. */

const SECRET = '123456ce8b61f8e608eaf2e9702864a9'
const server = createServer(SELF_SIGNED, (_request, response) => response.end('{}'))
let world: World
let origin: string
let rejectAgain: () => void
beforeAll(async () => {
  rejectAgain = acceptAnyCertificate()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.0/8' })
  const given = { partner_id: 7001, client_id: 'seller', name: 'Seller', base_url: `${origin}/api` }
  await createPartner(world.deps, newPartner.parse(given), SECRET)
})
afterAll(async () => {
  rejectAgain()
  server.close()
  await world.close()
})

const call = async () => callPartner(world.deps, await existingPartner(world.deps, 7001n), 'heartbeat', {})
const rows = async () => (await world.pool.query('select * from partner_certificate')).rows

it('a call stores a row, which is updated once a day and when the certificate changes', async () => {
  await call()
  const first = world.clock.now()
  const ends_at = new Date('2126-10-28T05:50:02Z')
  expect(await rows()).toEqual([{ partner_id: '7001', origin, ends_at, seen_at: first }])
  world.clock.advance(3_600)
  await call()
  expect(await rows()).toMatchObject([{ seen_at: first }])
  world.clock.advance(86_400)
  await call()
  expect(await rows()).toMatchObject([{ seen_at: world.clock.now() }])
  const { certificates } = world.deps.calls
  expect(certificates.ending()).toBe(0)
  expect(certificates.rememberIfChanged(7001n, origin, new Date(world.clock.now().getTime() + 13 * 86_400_000))).toBe(
    true,
  )
  expect(certificates.ending()).toBe(1)
})

it('a certificate that could not be stored is stored with the next call, and the answer of this one counts', async () => {
  await world.pool.query('delete from partner_certificate')
  const ends_at = new Date('2126-11-28T05:50:02Z')
  const url = 'https://elsewhere.example/api'
  await noteCertificate(duringOutage(world.deps), 7001n, url, ends_at)
  expect(await rows()).toEqual([])
  await noteCertificate(world.deps, 7001n, url, ends_at)
  expect(await rows()).toMatchObject([{ origin: 'https://elsewhere.example', ends_at }])
})

it('a host that this process no longer calls stops raising its alert: another one may know a newer certificate', async () => {
  const { certificates } = world.deps.calls
  world.clock.advance(86_400)
  expect(certificates.ending()).toBe(1)
  world.clock.advance(86_400)
  expect(certificates.ending()).toBe(0)
})
