import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../.build/cli.js', import.meta.url))

it('a command whose reader has gone ends without a word, as in `gatehouse … | head`', () => {
  const { status, stderr } = spawnSync('sh', ['-c', `${PROGRAM} jsticket abc | true`], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  expect(execFileSync(PROGRAM, ['jsticket', 'abc'], { encoding: 'utf8' })).toMatch(/^[0-9a-f]{32}\n$/)
})
