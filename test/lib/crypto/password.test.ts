import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { hashing, hashPassword, OWASP } from '../../../src/platform/lib/crypto/password.ts'

it('hashing many passwords at once leaves a core for other requests, if there are two', async () => {
  hashing.cost = OWASP
  const [before, began] = [process.cpuUsage(), performance.now()]
  await Promise.all(Array.from({ length: 12 }, () => hashPassword('correct horse battery staple')))
  const { user, system } = process.cpuUsage(before)
  const cores = (user + system) / 1_000 / (performance.now() - began)
  expect(cores).toBeLessThan(Math.max(2, availableParallelism()) - 0.5)
})
