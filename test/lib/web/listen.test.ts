import { expect, it } from 'vitest'
import { checkPorts, freePort } from '../../../src/platform/lib/web/listen.ts'

it('freePort returns none of the ports given to it', async () => {
  const all = Array.from({ length: 12_000 }, (_, place) => 20_000 + place)
  await expect(freePort(all)).rejects.toThrow('none of 100 ports between 20000 and 32000 is free')
  expect(all).toContain(await freePort())
})

it.each([
  ['PORT', 'nobody-has.this-name.invalid', 'HOST is no address, and no name that can be looked up'],
  ['ADMIN_PORT', 'nobody-has.this-name.invalid', 'ADMIN_HOST is no address, and no name that can be looked up'],
  ['HEALTH_PORT', '192.0.2.7', 'HOST is not an address of this machine'],
  ['ADMIN_PORT', '192.0.2.7', 'ADMIN_HOST is not an address of this machine'],
])('an address that cannot be listened on is reported with its setting: %s on %s', async (setting, host, reason) => {
  const port = await freePort()
  await expect(checkPorts([{ setting, host, port }])).rejects.toThrow(
    `${setting} ${port} on ${host} cannot be used: ${reason}`,
  )
})
