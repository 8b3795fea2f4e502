import { accessSync, constants } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './document.ts'

it('the workflow runs .ci/run, may only read, and pins its actions', () => {
  const { permissions, jobs } = parse(read('.github/workflows/ci.yml'))
  expect(permissions).toEqual({ contents: 'read' })
  const { ci } = jobs
  expect(ci).toMatchObject({ 'runs-on': 'ubuntu-latest', 'timeout-minutes': 90 })
  const steps: readonly { uses?: string; run?: string }[] = ci.steps
  for (const { uses } of steps) if (uses) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  expect(steps.flatMap(({ run }) => run ?? [])).toEqual(['.ci/run'])
  accessSync(`${ROOT}.ci/run`, constants.X_OK)
})
