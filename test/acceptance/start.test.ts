import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import pg from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { gatehouseProcess } from '../cli-process.ts'
import { freshDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'
import { SECRET_KEY } from '../secrets.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'

/**
 * Starts that fail, have to wait, or go on without the demo say what is wrong and what to do. test/config.test.ts
 * covers each setting and test/db/await-database.test.ts each problem with a database; here the built programs are run.
 */

const servers: Server[] = []
const running: Started[] = []
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const server of servers.splice(0)) server.close()
})

let databaseUrl: string
let emptyUrl: string
beforeAll(async () => {
  const [database, empty] = [await freshDatabase(), await freshDatabase()]
  databaseUrl = database.url
  emptyUrl = empty.url
  return async () => {
    await database.drop()
    await empty.drop()
  }
})

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; output: string }>
  output(): string
}

function start(settings: Record<string, string>, program = 'main'): Started {
  const child = spawn(process.execPath, [...SHORT_LIVED, `.build/${program}.js`], {
    env: { PATH: process.env.PATH, PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  const ended = once(child, 'close').then(([code]) => ({ code, output }))
  const started = { child, ended, output: () => output }
  running.push(started)
  return started
}

async function listening(server: Server, port = 0): Promise<number> {
  servers.push(server)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Waits until the program has printed this, then stops it. */
async function endOnce(printed: string, { child, ended, output }: Started) {
  await until(() => output().includes(printed) || child.exitCode !== null, output)
  child.kill('SIGTERM')
  return ended
}

/** Settings for this database, without the demo by default. */
const on = (url: string, settings: Record<string, string> = {}) => ({
  ...{ DATABASE_URL: url, SECRET_KEY, DEMO: 'off' },
  ...settings,
})

const urlWith = (changes: Partial<Pick<URL, 'port' | 'password' | 'pathname'>>): string =>
  Object.assign(new URL(databaseUrl), changes).href

describe('a database that', () => {
  it('accepts connections but never responds is waited for by each program, and then named', async () => {
    const port = await listening(createServer())
    const settings = on(urlWith({ port: String(port) }), { DATABASE_WAIT_S: '5' })
    const ends = await Promise.all([start(settings), start(settings, 'worker')].map(({ ended }) => ended))
    const name = `t_\\w+ on 127\\.0\\.0\\.1:${port}`
    for (const { code, output } of ends) {
      expect(code).toBe(1)
      expect(output).toMatch(
        new RegExp(`waiting for the database ${name}: it accepts the connection but does not respond; for \\d+ s more`),
      )
      expect(output).toMatch(
        new RegExp(
          `\\n  the database ${name} was not reachable for \\d+ s: it accepts the connection but does not respond; start it, or correct DATABASE_URL\\n$`,
        ),
      )
    }
  })

  it('comes up later is used as soon as it does, even with MIGRATE=off', async () => {
    const [port, http] = [await freePort(), await freePort()]
    const demo = { DEMO: 'on', DEMO_PORT: '0', DEMO_PARTNER_PORT: '0' } // the tests below need its rows
    const settings = { ...demo, MIGRATE: 'off', JOBS: 'off', PORT: String(http) }
    const { output, child } = start(on(urlWith({ port: String(port) }), settings))
    await until(() => output().includes('nothing listens there (yet)'))
    const target = Number(new URL(databaseUrl).port)
    const forwarder = createServer((incoming) => {
      const outgoing = connect(target, '127.0.0.1')
      incoming.pipe(outgoing).pipe(incoming)
      for (const [one, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        one.on('error', () => {}).on('close', () => other.destroy())
      }
    })
    await listening(forwarder, port)
    await until(async () => (await fetch(`http://127.0.0.1:${http}/readyz`).catch(() => undefined))?.status === 200)
    expect(child.exitCode).toBeNull()
  })

  it('refuses the login is reported at once, without waiting', async () => {
    const began = performance.now()
    const { code, output } = await start(on(urlWith({ password: 'not-the-password' }))).ended
    expect(code).toBe(1)
    expect(output).toMatch(/cannot be used: the password in DATABASE_URL is wrong\n/)
    expect(output).not.toContain('not-the-password')
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  it.each(['main', 'worker'])('is being waited for does not delay SIGTERM (%s.js)', async (program) => {
    const port = await listening(createServer())
    const { child, ended, output } = start(on(urlWith({ port: String(port) })), program)
    await until(() => output().includes('waiting for the database'))
    const began = performance.now()
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  it.each(['main', 'worker'])('is being waited for does not hide an unexpected failure (%s.js)', async (program) => {
    const port = await listening(createServer())
    const failing = `process.on('SIGCONT',()=>{throw(new(Error)('what_broke'))})`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(failing)}`
    const { child, ended, output } = start(on(urlWith({ port: String(port) }), { NODE_OPTIONS }), program)
    await until(() => output().includes('waiting for the database'))
    child.kill('SIGCONT')
    expect(await ended).toMatchObject({ code: 1, output: expect.stringContaining('what_broke') })
  })
})

it('a warning says that the database takes fewer connections than the processes may open', async () => {
  const settings = on(databaseUrl, { PORT: '0', DATABASE_POOL_SIZE: '500', HTTP_PROCESSES: '2' })
  const warning =
    'HTTP_PROCESSES times DATABASE_POOL_SIZE (with SHARDS, times one more than these), and seven for jobs, leave no connection of PostgreSQL over'
  const { output } = await endOnce(warning, start(settings))
  expect(output).toContain(warning)
})

it('all ports are checked before anything is started, and each that cannot be used is named', async () => {
  const taken = [await listening(createServer()), await listening(createServer())] as const
  const port = String(await freePort())
  const [ADMIN_PORT, DEMO_PARTNER_PORT] = [String(taken[0]), String(taken[1])]
  const HEALTH_PORT = ADMIN_PORT
  const ports = { PORT: port, ADMIN_PORT, HEALTH_PORT, DEMO_PORT: port, DEMO_PARTNER_PORT }
  const settings = on(databaseUrl, { DEMO: 'on', ...ports })
  const { code, output } = await start(settings).ended
  expect({ code, output }).toEqual({
    code: 1,
    output: `Gatehouse cannot start:
  ADMIN_PORT ${taken[0]} on 127.0.0.1 cannot be used: the port is in use; choose another one
  HEALTH_PORT is ${taken[0]}, as ADMIN_PORT is; choose another one
  DEMO_PORT is ${port}, as PORT is; choose another one
  DEMO_PARTNER_PORT ${taken[1]} on 127.0.0.1 cannot be used: the port is in use; choose another one
`,
  })
})

describe('a start with bad settings', () => {
  it('names everything that production lacks', async () => {
    const settings = { NODE_ENV: 'production', DEMO: 'on', PUBLIC_URL: 'http://gate.example.com' }
    expect(await start(settings).ended).toEqual({
      code: 1,
      output: `Gatehouse cannot start:
  SECRET_KEY is required in production: set it to a value that you keep; generate one with: openssl rand -base64 48
  PUBLIC_URL must be an https:// address in production; PUBLIC_URL_HTTP=on allows http:// anyway, but then passwords, sessions and codes travel unencrypted
  DEMO must not be on in production: its passwords are public in the README
`,
    })
  })

  it('names each entry of PARTNER_ADDRESS_ALLOW that it cannot parse', async () => {
    const settings = { PARTNER_ADDRESS_ALLOW: 'http://10.0.0.1,10.0.0.0/8,10.0.0.0/33' }
    expect(await start(settings).ended).toEqual({
      code: 1,
      output: `Gatehouse cannot start:
  PARTNER_ADDRESS_ALLOW has "http://10.0.0.1", which is not a host, address or network: write partner.internal, 10.1.2.3, 10.1.0.0/16 or [fd00::1], each with or without :port
  PARTNER_ADDRESS_ALLOW has "10.0.0.0/33", which is not a host, address or network: write partner.internal, 10.1.2.3, 10.1.0.0/16 or [fd00::1], each with or without :port
`,
    })
  })
})

describe('without the demo', () => {
  it('the service says why, and puts nothing of the demo into the database', async () => {
    const started = start({ HOST: '0.0.0.0', DATABASE_URL: emptyUrl, SECRET_KEY, JOBS: 'off' })
    const { code, output } = await endOnce('operators sign in on the console', started)
    expect(code).toBe(0)
    expect(output).toMatch(/operators sign in on the console \{"url":"http:\/\/[^"]+\/console"\}/)
    expect(output).toContain(
      "The demo is not started: HOST=0.0.0.0 lets other machines connect, and the demo's passwords are public in the README. For the demo leave HOST at 127.0.0.1, or set DEMO=on to start it anyway.",
    )
    const client = new pg.Client({ connectionString: emptyUrl })
    await client.connect()
    const found = 'select from micro_app union all select from user_profile union all select from partner'
    expect((await client.query(found)).rowCount).toBe(0)
    await client.end()
  })
})

describe('production on a database that holds the demo', () => {
  const settings = () =>
    on(databaseUrl, { NODE_ENV: 'production', PUBLIC_URL: 'https://gate.example.com', DEMO: '', LOG_LEVEL: 'info' })

  it.each(['main', 'worker'] as const)('does not start (%s.js), and says how to remove it', async (program) => {
    const { code, output } = await start(settings(), program).ended
    expect(code).toBe(1)
    expect(output).toContain(
      'the database contains the demo, whose passwords and secrets are public in the README: ' +
        'micro-app demo-app (approved), micro-app demo-oidc (approved), micro-app demo-pending (pending), micro-app demo-phone-only (approved), ' +
        'partner 7001 (active), user alice (active), user bob (active)',
    )
    expect(output).toContain('remove it with the same settings: npx gatehouse demo remove')
  })

  it('starts once the demo is removed', async () => {
    expect(await gatehouseProcess(settings(), 'demo', 'remove')).toEqual({
      code: 0,
      stdout: 'removed: 4 micro-apps, 3 users, 1 partner\n',
      stderr: '',
    })
    expect(await endOnce('running durable jobs', start(settings(), 'worker'))).toMatchObject({ code: 0 })
  })
})
