import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PATH } from '../../src/ticketing/mws-wire/index.ts'
import { Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { makeSeller } from '../acceptance/seller.ts'
import { ADMIN_TOKEN, FEW_LINES, type System, startSystem } from '../acceptance/system.ts'
import { openWorld } from '../harness.ts'
import { expectSound, residentMb } from './health.ts'
import { fuzzSettings, randomAt } from './random.ts'
import { bytesOf, mayBeCutOff, type RawAnswer, RawConnection, type RawRequest } from './raw-http.ts'
import { type Known, NOTICES, Requests, type Route } from './requests.ts'

const { seed, requests: total } = fuzzSettings()
/** Requests may sign out, block or rename their sender, so new credentials are made after this many. */
const ROUND = 1_000
const AT_ONCE = 8

let system: System
let requests: Requests
beforeAll(async () => {
  requests = new Requests(await everyRoute())
  system = await startSystem({ NODE_ENV: 'test', DEMO: 'off', TRUST_PROXY: '127.0.0.1', ...FEW_LINES })
})
afterAll(() => system.stop())

/** All routes, as the app registers them. */
async function everyRoute(): Promise<Route[]> {
  const routes: Route[] = []
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: { addHook(name: string, hook: (route: Route) => void): void } }
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) routes.push({ method: each, url })
    })
  }
  subscribe('fastify.initialization', watch)
  const world = await openWorld()
  unsubscribe('fastify.initialization', watch)
  await world.close()
  return routes
}

/** A new user, app and seller for one round, with valid credentials for each. */
async function newCredentials(): Promise<Known> {
  const { origin } = system
  const client = new Client(httpWire(origin), origin)
  const app = await client.makeApp()
  const user = await client.makeUser()
  const browser = await client.signedIn(user, app)
  const tokens = await client.getTokens(browser, app)
  const code = await client.getCode(browser, app)
  const { fields } = await client.consentFormFor(browser, client.request(app))
  const seller = await makeSeller(client)
  const engineer = client.newBrowser()
  const { partnerId: _partnerId, clientId: client_id, clientSecret: client_secret } = seller
  const form = { method: 'POST', action: '/sandbox/sign-in', fields: {}, inputs: [], buttons: [] }
  const answer = await engineer.submit(form, { client_id, client_secret })
  expect(answer.status, `sign-in to the sandbox: ${answer.text.slice(0, 300)}`).toBe(303)
  return {
    origin,
    app,
    user,
    tokens,
    code: { code: code.code, state: code.state },
    consentForm: fields.authorization_request ?? '',
    seller,
    cookies: `${browser.cookieHeader}; ${engineer.cookieHeader}`,
    adminToken: ADMIN_TOKEN,
    runId: randomBytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    orderId: '8985652356562370000',
  }
}

/** Decodes a chunked body (RFC 9112, 7.1): a line with its size in bytes, in hex, precedes each chunk. */
function decodeChunked(text: string): string {
  const parts: Buffer[] = []
  for (let rest = Buffer.from(text); ; ) {
    const line = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.subarray(0, line).toString(), 16)
    if (line < 0 || !(size > 0)) return Buffer.concat(parts).toString()
    parts.push(rest.subarray(line + 2, line + 2 + size))
    rest = rest.subarray(line + 4 + size)
  }
}

/** What is wrong with an answer, if anything. */
function problemOf(request: RawRequest, answer: RawAnswer | undefined, { app, seller }: Known): string | undefined {
  if (!answer) return mayBeCutOff(request) ? undefined : 'the connection was closed without an answer'
  const { status, head, body } = answer
  if (!(status >= 200 && status < 500)) return `status ${status}`
  if (/\bat \S+ \(|node_modules|\.(ts|js):\d+/.test(body)) return 'a stack trace'
  for (const secret of [app.app_secret, seller.clientSecret]) if (body.includes(secret)) return 'a secret'
  if (/\r\nx-injected/i.test(head)) return 'a header that the caller injected'
  if (request.method === 'HEAD' || !/\r\ncontent-type: application\/json/i.test(head)) return undefined
  const json = JSON.parse(/\r\ntransfer-encoding: chunked/i.test(head) ? decodeChunked(body) : body) as Record<
    string,
    unknown
  >
  if (request.target.startsWith('/oauth/v2/api') && !Number.isInteger(json.rescode)) return 'no envelope of area A'
  return undefined
}

it('the fuzzer has a notice for every path that partners call', () => {
  expect(Object.keys(NOTICES).sort()).toEqual(Object.values(PATH).sort())
})

it(`answers ${total} hostile requests without a server error, seed ${seed}`, async () => {
  const [running] = system.processes
  if (!running) throw new Error('no process')
  const port = Number(new URL(system.origin).port)
  const connections = Array.from({ length: AT_ONCE }, () => new RawConnection(port))
  const failures: string[] = []
  const seen = new Map<string, number>()
  const memory: number[] = []
  for (let from = 0; from < total; from += ROUND) {
    const known = await newCredentials()
    const places = Array.from({ length: Math.min(ROUND, total - from) }, (_, place) => from + place)
    const sendAll = async (connection: RawConnection): Promise<void> => {
      for (let place = places.shift(); place !== undefined; place = places.shift()) {
        const request = requests.make(randomAt(seed, place), known)
        const answer = await connection.send(request).catch((error: Error) => error)
        const problem = answer instanceof Error ? answer.message : problemOf(request, answer, known)
        const status = answer instanceof Error || !answer ? 'closed' : String(answer.status)
        seen.set(status, (seen.get(status) ?? 0) + 1)
        if (problem) {
          const what = answer instanceof Error ? '' : (answer?.body ?? '').slice(0, 300)
          failures.push(
            `request ${place} of seed ${seed}: ${problem}\n${bytesOf(request).toString('latin1').slice(0, 2_000)}\n→ ${what}`,
          )
        }
      }
    }
    await Promise.all(connections.map(sendAll))
    memory.push(residentMb(running))
    if ((from / ROUND) % 10 === 9)
      process.stderr.write(`  fuzz: ${from + ROUND} of ${total} requests, ${memory.at(-1)?.toFixed(0)} MB\n`)
  }
  for (const connection of connections) connection.close()
  const shares = [...seen]
    .sort()
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
  process.stderr.write(
    `  fuzz: seed ${seed}; answers ${shares}; memory ${memory.map((mb) => mb.toFixed(0)).join(' ')} MB\n`,
  )
  expect(failures.slice(0, 10).join('\n\n'), `${failures.length} failures`).toBe('')
  expectSound(running, memory)
}, 3_600_000)
