import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'
import { SECRET_KEY } from '../secrets.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'

/** Starts that cannot go on, or not yet: each says what is wrong and what to do. */

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
beforeAll(async () => {
  const database = await freshDatabase()
  databaseUrl = database.url
  return database.drop
})

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; output: string }>
  output(): string
}

function start(settings: Record<string, string>, program = 'main'): Started {
  const child = spawn(process.execPath, [...SHORT_LIVED, `.build/${program}.js`], {
    env: { PATH: process.env.PATH, SECRET_KEY, DEMO: 'off', PORT: '0', ...settings },
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

const urlWith = (changes: Partial<Pick<URL, 'port' | 'password' | 'pathname'>>): string =>
  Object.assign(new URL(databaseUrl), changes).href

describe('a database that', () => {
  it('accepts and says nothing is waited for, by each program, and named', async () => {
    const port = await listening(createServer())
    const settings = { DATABASE_URL: urlWith({ port: String(port) }), DATABASE_WAIT_S: '5' }
    const ends = await Promise.all(
      [start(settings), start({ ...settings, MIGRATE: 'off' }), start(settings, 'worker')].map(({ ended }) => ended),
    )
    const name = `t_\\w+ on 127\\.0\\.0\\.1:${port}`
    for (const { code, output } of ends) {
      expect(code).toBe(1)
      expect(output).toMatch(
        new RegExp(`waiting for the database ${name}: it accepts the connection and says nothing; for \\d+ s more`),
      )
      expect(output).toMatch(
        new RegExp(
          `\\n  the database ${name} has not been there for \\d+ s: it accepts the connection and says nothing; start it, or correct DATABASE_URL\\n$`,
        ),
      )
    }
  })

  it('comes up later is used then, also with MIGRATE=off', async () => {
    const [port, http] = [await freePort(), await freePort()]
    const { output, child } = start({
      DATABASE_URL: urlWith({ port: String(port) }),
      MIGRATE: 'off',
      PORT: String(http),
    })
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

  it('does not pass by waiting is refused at once', async () => {
    const began = performance.now()
    const wrong = await start({ DATABASE_URL: urlWith({ password: 'not-the-password' }) }).ended
    const unknown = await start({ DATABASE_URL: urlWith({ pathname: '/nobody-made-it' }) }).ended
    expect(wrong).toMatchObject({
      code: 1,
      output: expect.stringMatching(/cannot be used: the password in DATABASE_URL is wrong\n/),
    })
    expect(wrong.output).not.toContain('not-the-password')
    expect(unknown.output).toMatch(
      /nobody-made-it on 127.0.0.1:\d+ cannot be used: it does not exist on that server; create it/,
    )
    expect(performance.now() - began).toBeLessThan(120_000)
  })

  it('is waited for can be waited for no longer: SIGTERM ends at once', async () => {
    const port = await listening(createServer())
    const { child, ended, output } = start({ DATABASE_URL: urlWith({ port: String(port) }) })
    await until(() => output().includes('waiting for the database'))
    const began = performance.now()
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect(performance.now() - began).toBeLessThan(60_000)
  })
})

describe('ports', () => {
  it('are all looked at before anything is started, and each that is taken is named', async () => {
    const taken = [await listening(createServer()), await listening(createServer())] as const
    const settings = { DATABASE_URL: databaseUrl, DEMO: 'on', PORT: String(await freePort()) }
    const { code, output } = await start({
      ...settings,
      DEMO_PORT: String(taken[0]),
      DEMO_PARTNER_PORT: String(taken[1]),
    }).ended
    expect({ code, output }).toEqual({
      code: 1,
      output: `Gatehouse cannot start:
  DEMO_PORT ${taken[0]} on 127.0.0.1 cannot be used: the port is in use; choose another one
  DEMO_PARTNER_PORT ${taken[1]} on 127.0.0.1 cannot be used: the port is in use; choose another one
`,
    })
    const same = await start({ ...settings, DEMO_PORT: settings.PORT, DEMO_PARTNER_PORT: '0' }).ended
    expect(same.output).toBe(
      `Gatehouse cannot start:\n  DEMO_PORT is ${settings.PORT}, as PORT is; choose another one\n`,
    )
  })
})
