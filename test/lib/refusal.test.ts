import { afterEach, describe, expect, it } from 'vitest'
import { Overloaded } from '../../src/platform/lib/concurrency-limit.ts'
import { failureFactory } from '../../src/platform/lib/failure.ts'
import { Refusal, RescodeError } from '../../src/platform/lib/web/rescode.ts'

describe.each([
  ['RescodeError', () => new RescodeError(20007, { what: 'state' })],
  ['Overloaded', () => new Overloaded('a turn')],
  ['NamedFailure', () => failureFactory({ some_name: { rescode: 20006 } })('some_name')],
])('%s', (_, refuse) => {
  afterEach(() => {
    Refusal.recordsStack = true
  })

  it('has a stack in tests', () => {
    expect(refuse().stack).toContain('refusal.test.ts')
  })

  it('has no stack in a service, unlike an ordinary error', () => {
    Refusal.recordsStack = false
    expect(refuse().stack).not.toContain('\n')
    expect(new Error('a fault').stack).toContain('refusal.test.ts')
  })
})
