import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type InputOf, type OutputOf, operation, parseInput } from '../../../src/platform/lib/json/input.ts'

const greeting = z.strictObject({ name: z.string(), times: z.coerce.number().default(1) })

describe('an operation', () => {
  const greet = operation(greeting, async ({ word }: { word: string }, { name, times }, end = '.') =>
    Array.from({ length: times }, () => `${word} ${name}${end}`),
  )

  it('carries the schema of its input, and is called without another parse', async () => {
    const input: InputOf<typeof greet> = parseInput(greet.input, { name: 'Wei', times: '2' })
    const said: OutputOf<typeof greet> = await greet({ word: 'Hello' }, input, '!')
    expect(said).toEqual(['Hello Wei!', 'Hello Wei!'])
    expect(await greet({ word: 'Hello' }, { name: '', times: 1 })).toEqual(['Hello .'])
  })

  it('may take an id from the path', () => {
    const rename = operation(greeting.pick({ name: true }), (_: object, id: bigint, { name }) => `${id}: ${name}`)
    expect(rename({}, 7n, parseInput(rename.input, { name: 'Wei' }))).toBe('7: Wei')
  })

  it('does not compile with input of another type', () => {
    // @ts-expect-error the schema says text
    operation(greeting, (_: object, input: { name: number }) => input.name)
    // @ts-expect-error a field is missing
    const call = () => greet({ word: 'Hello' }, { times: 1 })
    expect(call).toBeTypeOf('function')
  })
})
