import { expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { ADMIN_TOKEN, startSystem } from './system.ts'

/** Operators on a listener of their own. */

it.each(['1', '2'])('ADMIN_PORT takes the admin API away from PORT, in %s processes', async (HTTP_PROCESSES) => {
  const port = await freePort()
  const system = await startSystem({ ADMIN_PORT: String(port), HTTP_PROCESSES })
  const statusOf = async (origin: string, path: string, token = ADMIN_TOKEN) =>
    (await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })).status
  try {
    const own = `http://127.0.0.1:${port}`
    for (let again = 0; again < 5; again++) {
      expect(await statusOf(own, '/admin/v1/apps')).toBe(200)
      expect(await statusOf(own, '/admin/v1/apps', 'wrong')).toBe(401)
      expect(await statusOf(own, '/healthz')).toBe(200)
      expect(await statusOf(own, '/readyz')).toBe(200)
      for (const path of ['/', '/sign-in', '/oauth/v2/authorize', '/mtp/api/x', '/admin']) {
        expect(await statusOf(own, path), path).toBe(404)
      }
      expect(await statusOf(system.origin, '/admin/v1/apps')).toBe(404)
      expect(await statusOf(system.origin, '/admin/v1/apps', 'wrong')).toBe(404)
      expect(await statusOf(system.origin, '/sign-in')).toBe(200)
    }
    const [running] = system.processes
    expect(await running?.stop()).toBe(0)
    await expect(fetch(`${own}/healthz`)).rejects.toThrow()
  } finally {
    await system.stop()
  }
})
