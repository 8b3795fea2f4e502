import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { ClientKeys } from '../src/authorization/oidc/client-keys.ts'
import { ProviderKeys } from '../src/authorization/upstream/logout-token.ts'
import { readConfig } from '../src/platform/config/index.ts'
import { addSeconds } from '../src/platform/lib/clock.ts'
import { addressGuard } from '../src/platform/outbound/index.ts'
import { CircuitBreakers, KnownCertificates } from '../src/ticketing/partner-reach/index.ts'

/** What a process remembers for seconds must not be kept for an hour when the clock is set back by an hour. */

const wallClock = () => {
  let now = new Date('2026-05-06T10:34:20Z')
  return {
    now: () => now,
    elapsedMs: () => 0,
    setBack: (seconds: number) => {
      now = addSeconds(now, -seconds)
    },
  }
}

it('a partner is called again', () => {
  const clock = wallClock()
  const breakers = new CircuitBreakers(clock, 100)
  for (let failed = 0; failed < 5; failed++) breakers.recordOutcome(1n, false, 10)
  expect(breakers.allowsCall(1n, false)).not.toBe(true)
  clock.setBack(3_600)
  expect(breakers.allowsCall(1n, false)).toBe(true)
})

it('keys of the OpenID provider are fetched again after a failure', async () => {
  const clock = wallClock()
  let isAway = true
  const keys = new ProviderKeys(clock, async () => {
    if (isAway) throw new Error('away')
    return new Response('{"keys":[]}')
  })
  await expect(keys.verify('https://provider.example/keys', async () => 'read')).rejects.toThrow()
  isAway = false
  clock.setBack(3_600)
  expect(await keys.verify('https://provider.example/keys', async () => 'read')).toBe('read')
})

it('keys of a client are fetched again after a failure', async () => {
  const clock = wallClock()
  let status = 500
  const server = createServer((_request, answer) => answer.writeHead(status).end('{"keys":[]}')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const guard = addressGuard(readConfig({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' }))
  const calls = { guard, breakers: new CircuitBreakers(clock, 100), certificates: new KnownCertificates(clock) }
  const keys = new ClientKeys({ calls, clock })
  expect((await keys.at(url, undefined)).problem).toBeDefined()
  status = 200
  clock.setBack(3_600)
  expect((await keys.at(url, undefined)).problem).toBeUndefined()
  server.close()
})
