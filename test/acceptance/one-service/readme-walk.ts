import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { type System, sharedSystem } from '../system.ts'

let system: System

beforeAll(async () => {
  system = await sharedSystem()
})

/** Runs the README's code block after this marker unchanged, and returns its output. */
async function run(marker: string, environment: Record<string, string>): Promise<string> {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const [, after = ''] = readme.split(`<!-- ${marker}: a test runs this block word for word -->\n\`\`\`sh\n`)
  const [script = ''] = after.split('```', 1)
  const env = { PATH: process.env.PATH, ...environment }
  return (await promisify(execFile)('bash', ['-euc', script], { env })).stdout
}

it('the README’s walk through area A works word for word', async () => {
  const stdout = await run('walk', { GATE: system.origin })
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

it('the README’s signed call works word for word', async () => {
  const answer = JSON.parse(await run('signed call', { GATE: system.origin }))
  expect(answer).toMatchObject({ code: 200, describe: 'success', partnerId: '7001' })
})
