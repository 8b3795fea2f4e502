import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jsTicket } from '../../src/authorization/resource/wire.ts'

const vectors = JSON.parse(readFileSync(new URL('../vectors.json', import.meta.url), 'utf8')) as {
  jsTicket: Record<string, string>
}

describe('jsTicket', () => {
  it.each(Object.entries(vectors.jsTicket))('matches the test vector for %s', (token, ticket) => {
    expect(jsTicket(token)).toBe(ticket)
  })
})
