import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { generateSecret } from '../src/platform/lib/crypto/generated-secret.ts'
import { PROGRAM } from './cli-process.ts'
import { gatehouse } from './cli-runner.ts'

/** Behaviour that only the built program shows, run as its own process. Other tests run commands in the test process. */
describe('the built program', () => {
  it('ends silently when its output is closed, as in `gatehouse … | head`', async () => {
    const { status, stderr } = spawnSync('sh', ['-c', `${PROGRAM} jsticket abc | true`], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    const printed = expect.stringMatching(/^[0-9a-f]{32}\n$/)
    expect(await gatehouse({}, 'jsticket', 'abc')).toEqual({ code: 0, stdout: printed, stderr: '' })
  })

  it('reads standard input, prints to standard output and ends with the exit code of its command', () => {
    const input = generateSecret('ghas').slice(0, -1)
    expect(spawnSync(PROGRAM, ['secret', 'check'], { input, encoding: 'utf8' })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('mistyped'),
      stderr: '',
    })
  })

  it('prints usage errors to standard error and ends with exit code 2', () => {
    const { status, stdout, stderr } = spawnSync(PROGRAM, ['app', 'remove', 'x'], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: "unknown command 'remove'\n" })
  })
})
