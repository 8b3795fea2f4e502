import { expect, it } from 'vitest'
import { OpenRequests } from '../../src/sandbox/portal/open-requests.ts'

it('a request that opens after all had to end ends at once, instead of holding up the shutdown', () => {
  const requests = new OpenRequests()
  const refuse = (key: string) => new Error(key)
  const before = requests.open({ 'partner 1': 1 }, refuse)
  expect(before.signal.aborted).toBe(false)
  requests.endAll()
  expect(before.signal.aborted).toBe(true)
  before.close()
  expect(requests.open({ 'partner 1': 1 }, refuse).signal.aborted).toBe(true)
})
