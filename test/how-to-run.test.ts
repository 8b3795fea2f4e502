import { expect, it } from 'vitest'
import type { TestModule } from 'vitest/node'
import { commandsFor } from './how-to-run.ts'

const RUN = 'npx vitest run --config test/vitest.config.ts'
const moduleId = new URL('./lib/concurrency-limit.test.ts', import.meta.url).pathname

const module = { type: 'module', name: 'turns' }
const suite = { type: 'suite', name: "a caller's turn (1)", parent: module }
const file = (ok: boolean, failed: object[], state = ok ? 'passed' : 'failed') =>
  ({ moduleId, ok: () => ok, state: () => state, children: { allTests: () => failed } }) as unknown as TestModule

it('prints a shell command for each failing test', () => {
  const failed = [
    { name: 'comes', parent: suite },
    { name: 'costs 5 $', parent: module },
  ]
  expect(commandsFor([file(false, failed), file(true, [])])).toEqual([
    `${RUN} test/lib/concurrency-limit.test.ts -t '^a caller'\\''s turn \\(1\\) comes$'`,
    `${RUN} test/lib/concurrency-limit.test.ts -t '^costs 5 \\$$'`,
  ])
})

it('prints the file if it failed outside of its tests', () => {
  expect(commandsFor([file(false, [])])).toEqual([`${RUN} test/lib/concurrency-limit.test.ts`])
})

it('prints the file if its process ended before it was finished', () => {
  expect(commandsFor([file(true, [], 'pending')])).toEqual([`${RUN} test/lib/concurrency-limit.test.ts`])
})
