import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type System, startSystem } from './system.ts'

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system.stop())

it('the README’s walk through with curl works word for word', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const script = /<!-- walk:.*-->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const environment = { PATH: process.env.PATH, GATE: system.origin }
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env: environment })
  const lines = new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, 2), line.slice(3)]),
  )

  expect(lines.get('A1')).toMatch(/^http:\/\/localhost:3001\/callback\?code=ghac_[\w-]{48}&state=abc123$/)
  const tokens = {
    access_token: expect.stringMatching(/^ghat_/),
    refresh_token: expect.stringMatching(/^ghrt_/),
    expires_in: 604_800,
    scope: 'USER_INFO PHONE_NUMBER',
    token_type: 'bearer',
  }
  expect(JSON.parse(lines.get('A2') ?? '')).toEqual({ rescode: 0, data: tokens })
  expect(JSON.parse(lines.get('A3') ?? '').rescode).toBe(0)
  expect(JSON.parse(lines.get('A4') ?? '')).toEqual({ rescode: 0, data: { phone_number: '13800000001' } })
  expect(JSON.parse(lines.get('A5') ?? '').data.uinfo).toMatchObject({ cid: 1, user_id: '10001', gender: '2' })
})
