import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'

/** A pooler may hand a session from one process to another, so a name must mean the same statement in both. */

async function anotherProcess(): Promise<typeof import('../../src/platform/db/sql.ts')> {
  vi.resetModules()
  return import('../../src/platform/db/sql.ts')
}

it('a statement has the same unique name in every process', async () => {
  const [one, other] = [await anotherProcess(), await anotherProcess()]
  const ofOne = [one.sql`select 1`, one.sql`select ${1}::int`].map(({ name }) => name)
  const ofOther = [other.sql`select ${1}::int`, other.sql`select 1`].map(({ name }) => name)
  expect(ofOther.toReversed()).toEqual(ofOne)
  expect(new Set(ofOne).size).toBe(2)
})

it('a name is no longer than the 63 bytes that PostgreSQL keeps', async () => {
  const { sql } = await anotherProcess()
  expect(Buffer.byteLength(sql`select 2`.name ?? '')).toBeLessThan(64)
})

it('fragments are inlined into the statement, with their values in order', async () => {
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

it('one place in the code makes another statement from another fragment', async () => {
  const { sql } = await anotherProcess()
  const countOf = (table: string) => sql`select count(*) from ${sql.identifier(table)} where a = ${1}`
  const [one, other] = [countOf('one'), countOf('other')]
  expect(other.text).toBe('select count(*) from "other" where a = $1')
  expect(other.name).not.toBe(one.name)
})

it('one place in the code makes the same statement from the same fragments, with new values', async () => {
  const { sql } = await anotherProcess()
  const [one, other] = [sql.part`one`, sql.part`other`]
  const from = (table: typeof one, key: unknown) => sql`select ${key}::int from ${table} where a = ${key}`
  const [first, again, next] = [from(one, 1), from(one, 2), from(other, 3)]
  expect(again).toEqual({ ...first, values: [2, 2] })
  expect(next).toMatchObject({ text: 'select $1::int from other where a = $2', values: [3, 3] })
  expect(from(one, sql.part`b`)).toMatchObject({ text: 'select b::int from one where a = b', values: [] })
})

describe('rows', () => {
  const rowsOf = async () => {
    const { sql } = await anotherProcess()
    const columns = ({ id, name }: { id: number; name: string | null }) => sql.part`
      ${id}::int as id, ${name}::text as name`
    return (items: readonly { id: number; name: string | null }[], more: unknown = 0) =>
      sql`select asked.ordinal, ${more} from ${sql.rows('asked', items, columns)} where ${more} = 0`
  }
  const some = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: id % 2 ? null : `n${id}` }))

  it('a single item is sent as plain parameters', async () => {
    const { text, values } = (await rowsOf())(some(1))
    expect(text?.replaceAll(/\s+/g, ' ')).toBe(
      'select asked.ordinal, $1 from (select $2::int as id, $3::text as name, 1::bigint as ordinal) as asked where $4 = 0',
    )
    expect(values).toEqual([0, 0, 'n0', 0])
  })

  it('several items are sent as arrays, one per column', async () => {
    const { text, values } = (await rowsOf())(some(3))
    expect(text).toBe(
      'select asked.ordinal, $1 from unnest($2::int[], $3::text[]) with ordinality as asked (id, name, ordinal) where $4 = 0',
    )
    expect(values).toEqual([0, '{"0","1","2"}', '{"n0",null,"n2"}', 0])
  })

  it('any number of items uses one of two statements', async () => {
    const statement = await rowsOf()
    const counts = [1, 2, 1, 40, 200, 1, 3]
    const sent = counts.map((count) => statement(some(count), count))
    expect(new Set(sent.map(({ name }) => name)).size).toBe(2)
    expect(sent.map(({ values }) => String(values?.[1]).replaceAll(/[{"}]/g, ''))).toEqual(
      counts.map((count) =>
        some(count)
          .map(({ id }) => id)
          .join(),
      ),
    )
    expect(sent.map(({ values }) => values?.at(-1))).toEqual(counts)
  })

  it('rows have the given name, and do not affect other fragments', async () => {
    const { sql } = await anotherProcess()
    const columns = (id: number) => sql.part`${id}::int as id`
    const statement = (name: string, part: ReturnType<typeof sql.part>) =>
      sql`select ${part} from ${sql.rows(name, [1], columns)}`
    const [a, b] = [sql.part`a.id`, sql.part`b.id`]
    const texts = () => [statement('a', a), statement('b', b), statement('a', b)].map(({ text }) => text)
    const known = texts()
    expect(known[0]).toBe('select a.id from (select $1::int as id, 1::bigint as ordinal) as a')
    expect(new Set(known).size).toBe(3)
    expect(texts()).toEqual(known)
  })

  it('no items are refused', async () => {
    const statement = await rowsOf()
    expect(() => statement([])).toThrow('no rows asked')
  })
})

it('every subquery of exists selects a column, since sharded engines refuse it otherwise', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.filter((file) => /exists \(\s*select\s+from/i.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found).toEqual([])
})

it('no statement finds a row by its ctid, which is unique in one shard only', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.filter((file) => /\bctid\b/.test(readFileSync(`src/${file}`, 'utf8')))
  expect(found).toEqual([])
})
