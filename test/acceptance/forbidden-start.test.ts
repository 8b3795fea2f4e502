import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gatehouseProcess } from '../cli-process.ts'
import { freshDatabase } from '../database.ts'
import { SECRET_KEY } from '../secrets.ts'
import { SHORT_LIVED, startOptions } from '../start-options.ts'

/**
 * What the built programs print where they refuse to start, or start without the demo. Each setting by itself is in
 * test/config.test.ts; here it is seen that its sentence reaches the person.
 */

const ROOT = new URL('../../', import.meta.url).pathname

/** Runs a program until it ends, or until it has printed `enough`; then it is asked to stop. */
async function run(program: 'main' | 'worker', settings: Record<string, string>, enough = /(?!)/) {
  const child = spawn(process.execPath, [...SHORT_LIVED, ...startOptions(ROOT), `.build/${program}.js`], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'info', PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (!enough.test(printed) && enough.test(printed + text)) child.kill('SIGTERM')
      printed += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, printed }
}

const PRODUCTION = { NODE_ENV: 'production', SECRET_KEY, PUBLIC_URL: 'https://gate.example.com' }

describe('npm start', () => {
  it('names everything that production lacks', async () => {
    expect(await run('main', { NODE_ENV: 'production', DEMO: 'on', PUBLIC_URL: 'http://gate.example.com' })).toEqual({
      code: 1,
      printed: `Gatehouse cannot start:
  SECRET_KEY is required in production: set it to a value that you keep; generate one with: openssl rand -base64 48
  PUBLIC_URL must be an https:// address in production; PUBLIC_URL_HTTP=on allows http:// anyway, but then passwords, sessions and codes travel unencrypted
  DEMO must not be on in production: its passwords are public in the README
`,
    })
  })

  it('names each exception of PARTNER_ADDRESS_ALLOW that it cannot read', async () => {
    const settings = { PARTNER_ADDRESS_ALLOW: 'http://10.0.0.1,10.0.0.0/8,10.0.0.0/33' }
    expect(await run('main', settings)).toEqual({
      code: 1,
      printed: `Gatehouse cannot start:
  PARTNER_ADDRESS_ALLOW has "http://10.0.0.1", which is not a host, address or network: write partner.internal, 10.1.2.3, 10.1.0.0/16 or [fd00::1], each with or without :port
  PARTNER_ADDRESS_ALLOW has "10.0.0.0/33", which is not a host, address or network: write partner.internal, 10.1.2.3, 10.1.0.0/16 or [fd00::1], each with or without :port
`,
    })
  })
})

describe('npm start without the demo', () => {
  it('says why, and has put nothing of it into the database', async () => {
    const database = await freshDatabase()
    const settings = { HOST: '0.0.0.0', DATABASE_URL: database.url, SECRET_KEY }
    const { code, printed } = await run('main', settings, /The demo is not started: .*\n/)
    const { stdout } = await gatehouseProcess(settings, 'app', 'list', '--json')
    await database.drop()
    expect(code).toBe(0)
    expect(printed).toContain(
      "The demo is not started: HOST=0.0.0.0 lets other machines connect, and the demo's passwords are public in the README. For the demo leave HOST at 127.0.0.1, or set DEMO=on to start it anyway.",
    )
    expect(JSON.parse(stdout)).toEqual({ apps: [], next: null })
  })
})

describe('production on a database that holds the demo', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  const settings = () => ({ ...PRODUCTION, DATABASE_URL: database.url })
  beforeAll(async () => {
    database = await freshDatabase()
    await run(
      'main',
      { DATABASE_URL: database.url, SECRET_KEY, DEMO: 'on', DEMO_PORT: '0', DEMO_PARTNER_PORT: '0' },
      /Gatehouse is ready/,
    )
  })
  afterAll(() => database.drop())

  it.each(['main', 'worker'] as const)('does not start (%s.js), and says what removes it', async (program) => {
    const { code, printed } = await run(program, settings())
    expect(code).toBe(1)
    expect(printed).toContain(
      'the database contains the demo, whose passwords and secrets are public in the README: ' +
        'micro-app demo-app (approved), micro-app demo-oidc (approved), micro-app demo-pending (pending), micro-app demo-phone-only (approved), ' +
        'partner 7001 (active), user alice (active), user bob (active)',
    )
    expect(printed).toContain('remove it with the same settings: npx gatehouse demo remove')
  })

  it('starts once it is removed', async () => {
    expect(await gatehouseProcess(settings(), 'demo', 'remove')).toEqual({
      code: 0,
      stdout: 'removed: 4 micro-apps, 3 users, 1 partner\n',
      stderr: '',
    })
    expect(await gatehouseProcess(settings(), 'demo', 'remove')).toMatchObject({
      code: 0,
      stdout: 'this database contains nothing of the demo\n',
    })
    expect(await run('worker', settings(), /running durable jobs/)).toMatchObject({ code: 0 })
  })
})
