import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../../until.ts'
import { type Program, startProgram } from './programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-programs-'))
chmodSync(folder, 0o755) // as root, programs run as another user
afterAll(() => rmSync(folder, { recursive: true }))

const problemOf = (program: Program): string | undefined => {
  try {
    program.assertRuns()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('a program of the cluster', () => {
  it('that ends by itself is reported with its output', async () => {
    const program = startProgram('sh', ['-c', 'echo may not be read >&2; exit 3'], folder, 'ends.log')
    expect(await until(() => problemOf(program))).toBe('sh ended by itself (exit code 3):\nmay not be read\n')
    await program.stop()
  })

  it('that cannot be started is reported', async () => {
    const program = startProgram('/nowhere/patroni', [], folder, 'missing.log')
    expect(await until(() => problemOf(program))).toContain('spawn /nowhere/patroni ENOENT')
    await program.stop()
  })

  it('that is running is not reported', async () => {
    const program = startProgram('sleep', ['60'], folder, 'runs.log')
    expect(problemOf(program)).toBeUndefined()
    await program.stop()
    expect(problemOf(program)).toContain('(SIGTERM)')
  })
})
