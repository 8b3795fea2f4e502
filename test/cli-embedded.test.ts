import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatehouseProcess } from './cli-process.ts'
import { gatehouse } from './cli-runner.ts'
import { SHORT_LIVED } from './start-options.ts'

/** Commands run in the test process, except where several processes compete. */
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

const firstOperator = (name: string) => ['operator', 'create', '--name', name, '--role', 'admin', '--json']

it('without a running service, commands say on which folder none runs and how to start it', async () => {
  const withoutService = await gatehouse(settings, ...commandFor('first'))
  expect(withoutService).toMatchObject({ code: 1, stdout: '' })
  expect(withoutService.stderr).toMatch(
    /^no service runs on DATA_DIR \/\S+: start the service first \(npm start\); .*GATEHOUSE_URL/,
  )
  expect(existsSync(pidFile())).toBe(false)
})

it('commands that need only the database start it themselves, and wait for each other', async () => {
  const both = await Promise.all([gatehouseProcess(settings, 'purge'), gatehouse(settings, ...firstOperator('first'))])
  expect(both).toMatchObject([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ])
  expect(existsSync(pidFile())).toBe(false)
})

it('without a running service, only the first operator can be created', async () => {
  const second = await gatehouse(settings, ...firstOperator('second'))
  expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('start the service first') })
})

it('commands find a running service through its folder, even while it is starting', async () => {
  const service = await startService()
  try {
    expect(await gatehouseProcess(settings, ...commandFor('fourth'))).toMatchObject({ code: 0, stderr: '' })
    expect(await list()).toContain('fourth')
    const { stdout } = await gatehouse(settings, 'operator', 'list', '--json')
    expect(JSON.parse(stdout).operators).toMatchObject([{ name: 'first', role: 'admin' }])
    const log = JSON.parse((await gatehouse(settings, 'audit', 'list', '--action', 'app_created', '--json')).stdout)
    expect(log.events[0].actor).toEqual({ kind: 'cli', name: userInfo().username })
  } finally {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
  expect((await gatehouse(settings, 'app', 'list')).stderr).toContain('start the service first')
})

it('the address left behind by a killed service is not taken for a running one', async () => {
  const service = await startService()
  expect(await list()).toContain('fourth')
  service.kill('SIGKILL')
  await once(service, 'exit')
  expect((await gatehouse(settings, 'app', 'list')).stderr).toContain('start the service first')
})
