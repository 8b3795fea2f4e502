import { expect, it } from 'vitest'
import { freePort } from '../../../src/platform/lib/web/listen.ts'

it('a free port is none of those that are wanted for something else', async () => {
  const all = Array.from({ length: 12_000 }, (_, place) => 20_000 + place)
  await expect(freePort(all)).rejects.toThrow('none of 100 ports between 20000 and 32000 is free')
  expect(all).toContain(await freePort())
})
