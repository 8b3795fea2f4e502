import { readdirSync, readFileSync } from 'node:fs'
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

it('fragments are written into the statement, with their values in order', async () => {
  const { sql } = await anotherProcess()
  const byKey = (key: unknown) => sql.part`(select b from c where d = ${key})`
  const statement = sql`select ${1}::int, ${byKey(2)}, ${sql.identifier('e"f')} from g where h = ${3}`
  expect(statement.text).toBe('select $1::int, (select b from c where d = $2), "e""f" from g where h = $3')
  expect(statement.values).toEqual([1, 2, 3])
  expect(sql`select ${1}::int, ${byKey(4)}, ${sql.identifier('e"f')} from g where h = ${5}`).toEqual({
    ...statement,
    values: [1, 4, 5],
  })
})

it('the same place in the code makes another statement of another fragment', async () => {
  const { sql } = await anotherProcess()
  const countOf = (table: string) => sql`select count(*) from ${sql.identifier(table)} where a = ${1}`
  const [one, other] = [countOf('one'), countOf('other')]
  expect(other.text).toBe('select count(*) from "other" where a = $1')
  expect(other.name).not.toBe(one.name)
})

it('the same place in the code makes the same statement of the same fragments, with its own values', async () => {
  const { sql } = await anotherProcess()
  const [one, other] = [sql.part`one`, sql.part`other`]
  const from = (table: typeof one, key: unknown) => sql`select ${key}::int from ${table} where a = ${key}`
  const [first, again, next] = [from(one, 1), from(one, 2), from(other, 3)]
  expect(again).toEqual({ ...first, values: [2, 2] })
  expect(next).toMatchObject({ text: 'select $1::int from other where a = $2', values: [3, 3] })
  expect(from(one, sql.part`b`)).toMatchObject({ text: 'select b::int from one where a = b', values: [] })
})

it('no subquery of exists is without a column: sharded engines refuse it', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.filter((file) => /exists \(\s*select\s+from/i.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found).toEqual([])
})

it('no statement finds a row by its place: a ctid is unique in one shard only', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.filter((file) => /\bctid\b/.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found).toEqual([])
})
