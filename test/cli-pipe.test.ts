import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { generateSecret } from '../src/platform/lib/crypto/generated-secret.ts'
import { PROGRAM } from './cli-process.ts'
import { gatehouse } from './cli-runner.ts'

/** What only the built program shows, as a process of its own; its commands are run in the process of the tests. */
describe('the built program', () => {
  it('ends without a word when its reader has gone, as in `gatehouse … | head`', async () => {
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

  it('prints what is wrong with what was typed to standard error, and ends with 2', () => {
    const { status, stdout, stderr } = spawnSync(PROGRAM, ['app', 'remove', 'x'], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: "unknown command 'remove'\n" })
  })
})
