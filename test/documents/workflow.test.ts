import { accessSync, constants, existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './document.ts'

const { permissions, jobs } = parse(read('.github/workflows/ci.yml'))

it('the workflow has read-only permissions and exactly these jobs', () => {
  expect(permissions).toEqual({ contents: 'read' })
  expect(Object.keys(jobs)).toEqual(['ci', 'shards', 'citus', 'postgres', 'failover'])
})

it.each([
  ['ci', '.ci/run', 90],
  ['citus', '.ci/citus', 60],
  ['postgres', '.ci/postgres', 60],
  ['failover', '.ci/failover', 45],
])('its job %s runs %s and pins its actions', (name, program, minutes) => {
  const job = jobs[name]
  expect(job).toMatchObject({ 'runs-on': 'ubuntu-latest', 'timeout-minutes': minutes })
  const steps: readonly { uses?: string; run?: string }[] = job.steps
  for (const { uses } of steps) if (uses) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  expect(steps.flatMap(({ run }) => run?.split(' ', 1) ?? [])).toEqual([program])
  accessSync(`${ROOT}${program}`, constants.X_OK)
})

it('tests run on each PostgreSQL that OPERATIONS names', () => {
  const [, oldest, newest] =
    /PostgreSQL (\d+) or later,.*tested with \d+ to (\d+)/.exec(read('.github/OPERATIONS.md')) ?? []
  const { version } = jobs.postgres.strategy.matrix
  expect([version[0], version.at(-1)]).toEqual([Number(oldest), Number(newest)])
  for (const program of ['.ci/postgres', '.ci/citus'])
    for (const folder of read(program).match(/test\/[\w/.-]+/g) ?? []) expect(existsSync(`${ROOT}${folder}`)).toBe(true)
})
