import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatehouseProcess } from './cli-process.ts'
import { gatehouse } from './cli-runner.ts'
import { SHORT_LIVED } from './start-options.ts'

/** Commands run in this process but where several processes meet. */
let settings: Record<string, string>
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cli-'))
  chmodSync(folder, 0o755)
  settings = { DATA_DIR: folder }
})
afterAll(() => rmSync(settings.DATA_DIR ?? '', { recursive: true, force: true }))

const pidFile = () => join(settings.DATA_DIR ?? '', 'gatehouse.pid')
const commandFor = (name: string) => [
  'app',
  'create',
  '--app-key',
  name,
  '--name',
  name,
  '--host',
  'a.com',
  '--scope',
  'USER_INFO',
]
const list = async () => {
  const { stdout, stderr } = await gatehouse(settings, 'app', 'list', '--json')
  expect(stderr).toBe('')
  return JSON.parse(stdout).apps.map((app: { app_key: string }) => app.app_key)
}

async function startService(): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../.build/main.js', import.meta.url))
  const env = { PATH: process.env.PATH, ...settings, PORT: '0', DEMO: 'off', LOG_LEVEL: 'error' }
  const service = spawn(process.execPath, [...SHORT_LIVED, program], { env, stdio: 'inherit' })
  while (!existsSync(pidFile())) await sleep(20)
  return service
}

it('without a service, commands start its database for themselves and wait for each other', async () => {
  expect(await gatehouse(settings, ...commandFor('first'))).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(pidFile())).toBe(false)
  const both = [gatehouseProcess(settings, ...commandFor('second')), gatehouse(settings, ...commandFor('third'))]
  expect((await Promise.all(both)).map(({ code }) => code)).toEqual([0, 0])
  expect((await list()).sort()).toEqual(['first', 'second', 'third'])
})

it('beside a running service, commands use its database, also while it is starting', async () => {
  const service = await startService()
  try {
    expect(await gatehouseProcess(settings, ...commandFor('fourth'))).toMatchObject({ code: 0, stderr: '' })
    expect(await list()).toContain('fourth')
    expect(service.exitCode).toBeNull()
  } finally {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
  expect(await list()).toContain('fourth')
})
