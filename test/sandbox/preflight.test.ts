import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../src/platform/config/index.ts'
import { RescodeError } from '../../src/platform/lib/web/rescode.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { type InterfacePreflight, preflight } from '../../src/sandbox/portal/preflight/index.ts'
import { probe, verdict } from '../../src/sandbox/portal/preflight/probe.ts'
import { INTERFACES, type InterfaceName } from '../../src/ticketing/interfaces/index.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { DISGUISES } from '../outbound/disguises.ts'
import { AUTHORITY, ISSUED, SELF_SIGNED } from './certificates.ts'

let world: World
let partnerId = 8_000n
const opened: (() => void)[] = []

beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
})
afterAll(() => world.close())
// The check is rate limited per partner.
beforeEach(() => {
  partnerId++
})
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
const http = async (handle: RequestListener) => `http://127.0.0.1:${await listening(createServer(handle))}`
const https = async (tls: { key: string; cert: string }) =>
  `https://127.0.0.1:${await listening(createHttpsServer(tls, (_request, response) => response.end('{}')))}`
/** A server that answers with this status, its clock this many seconds off. */
const answering = (status: number, headers: Record<string, string> = {}, seconds = 0) =>
  http((_request, response) => {
    const date = new Date(world.clock.now().getTime() + seconds * 1_000).toUTCString()
    response.writeHead(status, { Date: date, ...headers }).end('{}')
  })

const withSettings = (settings: Partial<Config>) => {
  const config = { ...world.deps.config, ...settings }
  return { ...world.deps, config, calls: { ...world.deps.calls, guard: addressGuard(config) } }
}
const production = () => withSettings({ NODE_ENV: 'production' })
const strict = () => withSettings({ PARTNER_ADDRESS_ALLOW: [] })

async function one(url: string, deps = world.deps): Promise<InterfacePreflight> {
  const [only] = await preflight(deps, partnerId, { heartbeat: url })
  if (!only) throw new Error('no result')
  return only
}
type PreflightCheck = InterfacePreflight['checks'][number]

const checkOf = ({ checks }: InterfacePreflight, id: PreflightCheck['id']): PreflightCheck => {
  const found = checks.find((check) => check.id === id)
  if (!found) throw new Error(`no check ${id}`)
  return found
}
const outcomes = ({ checks }: InterfacePreflight) => checks.map(({ outcome }) => outcome).join(' ')

describe('a URL that answers', () => {
  it('passes every check, with the time it took, and is only sent an unsigned test', async () => {
    const seen: unknown[] = []
    const url = await http(async (request, response) => {
      const { method, url: path, headers } = request
      const body = Buffer.concat(await request.toArray()).toString()
      seen.push({ method, path, body, authorization: headers.authorization, type: headers['content-type'] })
      response.writeHead(200, { Date: world.clock.now().toUTCString() }).end('{"code":300}')
    })
    const result = await one(`${url}/alive`)
    expect(seen).toEqual([
      { method: 'POST', path: '/alive', body: '{}', authorization: undefined, type: 'application/json; charset=utf-8' },
    ])
    expect(result).toMatchObject({ name: 'heartbeat', url: `${url}/alive`, outcome: 'ok' })
    expect(outcomes(result)).toBe('ok ok ok not_tried ok ok')
    expect(checkOf(result, 'answers').timing).toBeGreaterThanOrEqual(0)
    expect(checkOf(result, 'answers').detail).toBe('It responds: HTTP status 200 to an unsigned test.')
    expect(checkOf(result, 'tls').detail).toContain('Plain http')
  })

  it.each([
    [401, 'ok', 'HTTP status 401'],
    [400, 'ok', 'HTTP status 400'],
    [404, 'warning', 'nothing is at this path'],
    [405, 'warning', 'does not accept POST'],
    [500, 'warning', 'responds with an error'],
    [503, 'warning', 'HTTP status 503'],
  ])('with status %d has the outcome %s', async (status, outcome, detail) => {
    const result = await one(await answering(status))
    expect(checkOf(result, 'answers')).toMatchObject({ outcome })
    expect(checkOf(result, 'answers').detail).toContain(detail)
    expect(result.outcome).toBe(outcome)
  })

  it('with a redirect is not followed', async () => {
    let hits = 0
    const inside = await http((_request, response) => {
      hits++
      response.end()
    })
    const result = await one(await answering(302, { Location: inside }))
    expect(checkOf(result, 'answers')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('redirects are not followed'),
    })
    expect(hits).toBe(0)
  })

  it('with a web page of a megabyte gets a warning', async () => {
    const result = await one(await http((_request, response) => response.end('x'.repeat(1_048_576))))
    expect(checkOf(result, 'answers')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('web page'),
    })
  })
})

describe('the clock', () => {
  it.each([
    [59, 'ok', 'agrees'],
    [-59, 'ok', 'agrees'],
    [90, 'warning', '90 seconds ahead'],
    [-420, 'warning', '7 minutes behind'],
    [8 * 3_600 + 30, 'warning', 'It looks like UTC+8'],
    [-5 * 3_600, 'warning', 'It looks like UTC-5'],
  ])('that is %d seconds off has the outcome %s', async (seconds, outcome, detail) => {
    const check = checkOf(await one(await answering(200, {}, seconds)), 'clock')
    expect(check).toMatchObject({ outcome, detail: expect.stringContaining(detail) })
  })

  it('cannot be compared without a valid Date', async () => {
    const without = await http((_request, response) => {
      response.sendDate = false
      response.end('{}')
    })
    expect(checkOf(await one(without), 'clock')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('no Date'),
    })
    const strange = await answering(200, { Date: 'today' })
    expect(checkOf(await one(strange), 'clock').detail).toContain('not an HTTP date')
  })
})

describe('a URL that is not called', () => {
  it.each([
    ['', 0],
    ['partner', 'not a complete'],
    ['/order/create', 'not a complete'],
    ['ftp://8.8.8.8/', 'not a complete'],
    ['file:///etc/passwd', 'not a complete'],
    ['http://', 'not a complete'],
    ['http://a b/', 'not a complete'],
    ['http://u:p@8.8.8.8/', 'user name and password'],
  ])('because it is not a valid one: %j', async (url, detail) => {
    const [result] = await preflight(world.deps, partnerId, { heartbeat: url })
    if (detail === 0) return expect(result).toBeUndefined()
    expect(result && checkOf(result, 'url')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining(String(detail)),
    })
    expect(result && outcomes(result)).toBe('failed not_tried not_tried not_tried not_tried not_tried')
  })

  it('because it leads to a private address, in every disguise', async () => {
    for (const [index, host] of DISGUISES.entries()) {
      partnerId = 9_000n + BigInt(index)
      const result = await one(`http://${host}:9/x`, strict())
      expect(result.outcome, host).toBe('failed')
      expect(checkOf(result, 'address').outcome, host).toBe('failed')
      expect(checkOf(result, 'answers').outcome, host).toBe('not_tried')
    }
  })

  it('because it is private, although a server listens there', async () => {
    let hits = 0
    const url = await http((_request, response) => {
      hits++
      response.end()
    })
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const result = await one(url.replace('127.0.0.1', host), strict())
      expect(checkOf(result, 'address').outcome).toBe('failed')
    }
    expect(hits).toBe(0)
    // A seller who tries the service on their own machine learns how to allow such calls.
    const { detail } = checkOf(await one(url, strict()), 'address')
    expect(detail).toContain('start it with PARTNER_ADDRESS_ALLOW=127.0.0.1')
  })
})

describe('a connection that fails', () => {
  it('is reported with its cause: refused, not HTTP, unknown name or no TLS', async () => {
    const refused = await one(`http://127.0.0.1:${await freePort()}/`)
    expect(checkOf(refused, 'answers')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('ECONNREFUSED'),
    })
    expect(outcomes(refused)).toBe('ok ok ok not_tried failed not_tried')
    const other = createTcpServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end('SSH-2.0-x\r\n')),
    )
    const noHttp = checkOf(await one(`http://127.0.0.1:${await listening(other)}/`), 'answers')
    expect(noHttp).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('not a valid HTTP response') })
    const nowhere = await one('http://nowhere.invalid/')
    expect(checkOf(nowhere, 'dns').outcome).toBe('failed')
    const plain = await one((await answering(200)).replace('http:', 'https:'))
    expect(checkOf(plain, 'tls')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('Does this port support https'),
    })
    expect(outcomes(plain)).toBe('ok ok ok failed not_tried not_tried')
  })

  it.each([
    ['self-signed', () => https(SELF_SIGNED), 'self-signed'],
    ['without its intermediate', () => https(ISSUED), 'intermediate'],
    [
      'of an unknown authority',
      () => https({ ...ISSUED, cert: `${ISSUED.cert}\n${AUTHORITY}` }),
      'not publicly trusted',
    ],
  ])('because of a certificate is reported with what is wrong: %s', async (_what, open, detail) => {
    const result = await one(await open())
    expect(checkOf(result, 'tls')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining(detail) })
  })

  it.each([
    ['CERT_HAS_EXPIRED', 'tls_expired'],
    ['CERT_NOT_YET_VALID', 'tls_not_yet'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_other_host'],
  ])('because of a certificate is reported by its error code: %s', (code, text) => {
    const timings = { connected: null, headers: null, total: 5 }
    expect(verdict('https://a.example/', { outcome: 'failed', failure: 'tls', code, timings }).tls).toMatchObject({
      text: `sandbox.preflight.${text}`,
    })
  })

  it('looks the same in production and takes as long, whether it is blocked, refused or unknown', async () => {
    const results = await Promise.all(
      ['http://10.0.0.1/', `http://127.0.0.1:${await freePort()}/`, 'http://nowhere.invalid/'].map(async (url) => {
        const started = performance.now()
        const { checks, outcome } = await one(url, production())
        return { checks, outcome, slow: performance.now() - started > 3_400 }
      }),
    )
    expect(results[0]).toMatchObject({ outcome: 'failed', slow: true })
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
    expect(JSON.stringify(results)).not.toMatch(/ECONN|ENOTFOUND|private/)
  })
})

describe('many URLs', () => {
  const urlsOf = (urlFor: (name: InterfaceName) => string) =>
    Object.fromEntries(INTERFACES.map(({ name }) => [name, urlFor(name)]))

  it('of one host are each tried, in the order of the catalogue, but the same URL only once', async () => {
    const paths: string[] = []
    const url = await http((request, response) => {
      paths.push(request.url ?? '')
      response.writeHead(request.url === '/order-pay' ? 404 : 200).end('{}')
    })
    const all = await preflight(
      world.deps,
      partnerId,
      urlsOf((name) => `${url}/${name}`),
    )
    expect(all.map(({ name }) => name)).toEqual(INTERFACES.map(({ name }) => name))
    expect(all.filter((entry) => checkOf(entry, 'answers').outcome === 'warning').map(({ name }) => name)).toEqual([
      'order-pay',
    ])
    expect(paths).toHaveLength(INTERFACES.length)
    paths.length = 0
    await preflight(
      world.deps,
      partnerId,
      urlsOf(() => `${url}/one`),
    )
    expect(paths).toEqual(['/one'])
  })

  it('of a host that cannot be reached cost one attempt', async () => {
    let connections = 0
    const port = await listening(
      createTcpServer((socket) => {
        connections++
        socket.destroy()
      }),
    )
    const all = await preflight(
      world.deps,
      partnerId,
      urlsOf((name) => `https://127.0.0.1:${port}/${name}`),
    )
    expect(connections).toBe(1)
    expect(all.every((entry) => checkOf(entry, 'tls').outcome === 'failed')).toBe(true)
  })

  it('that all hang share one time limit', async () => {
    const slow = await http(() => {})
    const started = performance.now()
    const all = await preflight(
      world.deps,
      partnerId,
      urlsOf((name) => `${slow}/${name}`),
    )
    expect(performance.now() - started).toBeLessThan(30_000)
    for (const entry of all) expect(['failed', 'not_tried']).toContain(checkOf(entry, 'answers').outcome)
    expect(checkOf(all[0] as InterfacePreflight, 'answers')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('three seconds'),
    })
  })
})

it('the address check is available in Chinese', async () => {
  const [result] = await preflight(world.deps, partnerId, { heartbeat: 'ftp://x' }, 'zh-CN')
  expect(result?.title).toBe('心跳')
  expect(result && checkOf(result, 'url').detail).toContain('这不是完整的')
})

it('the address check is rate limited per partner', async () => {
  const ask = () =>
    preflight(world.deps, partnerId, {}).then(
      () => 'done',
      (error: unknown) => error,
    )
  const answers = []
  for (let times = 0; times < 13; times++) answers.push(await ask())
  expect(answers.slice(0, 12)).toEqual(Array(12).fill('done'))
  expect(answers[12]).toBeInstanceOf(RescodeError)
  partnerId++
  expect(await ask()).toBe('done')
})

describe('the time left for all URLs', () => {
  it('leaves a URL uncalled, and says why, when it is used up', async () => {
    let requests = 0
    const url = await http((_request, response) => {
      requests++
      response.end('{}')
    })
    const found = await probe(world.deps, url, 299)
    expect(found).toEqual({ outcome: 'no-time' })
    expect(verdict(url, found).answers).toEqual({ outcome: 'not_tried', text: 'sandbox.preflight.no_time' })
    expect(requests).toBe(0)
    expect(await probe(world.deps, url, 60_000)).toMatchObject({ outcome: 'answered' })
  })

  it('ends a call that hangs earlier than the limit of a single call', async () => {
    const url = await http(() => {})
    const ended: string[] = []
    const [failed] = await Promise.all([
      probe(world.deps, url, 60_000).finally(() => ended.push('with time left')),
      probe(world.deps, url, 1_000).finally(() => ended.push('with a second left')),
    ])
    expect(failed).toMatchObject({ outcome: 'failed' })
    expect(ended).toEqual(['with a second left', 'with time left'])
  })
})
