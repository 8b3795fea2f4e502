import { expect, it, vi } from 'vitest'

/** Sessions may be handed from one process to another by a pooler: a name must mean the same statement in both. */

async function anotherProcess(): Promise<typeof import('../../src/db/sql.ts')> {
  vi.resetModules()
  return import('../../src/db/sql.ts')
}

it('the same statement has the same name in each process, and no other has', async () => {
  const [one, other] = [await anotherProcess(), await anotherProcess()]
  const ofOne = [one.sql`select 1`, one.sql`select ${1}::int`].map(({ name }) => name)
  const ofOther = [other.sql`select ${1}::int`, other.sql`select 1`].map(({ name }) => name)
  expect(ofOther.toReversed()).toEqual(ofOne)
  expect(new Set(ofOne).size).toBe(2)
})

it('a name fits what PostgreSQL keeps of it, 63 bytes', async () => {
  const { sql } = await anotherProcess()
  expect(Buffer.byteLength(sql`select 2`.name ?? '')).toBeLessThan(64)
})
