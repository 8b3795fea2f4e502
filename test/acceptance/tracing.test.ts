import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../until.ts'
import { ALICE, Client, DEMO_APP, dataOf } from './client.ts'
import { httpWire } from './http.ts'
import { ADMIN_TOKEN, type RunningProcess, type System, startSystem } from './system.ts'

/** Traces of the real service, as an OTLP/HTTP receiver gets them. */

interface Received {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly status: { readonly code?: number }
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: number }
  }[]
}

const ROOT = new URL('../../', import.meta.url).pathname
const spans: Received[] = []
const services = new Set<string>()
let receiver: Server
let system: System
let running: RunningProcess

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      expect(request.url).toBe('/v1/traces')
      for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
        for (const { key, value } of resource.attributes) if (key === 'service.name') services.add(value.stringValue)
        for (const scope of scopeSpans) spans.push(...scope.spans)
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => receiver.once('listening', resolve))
  const { port } = receiver.address() as AddressInfo
  system = await startSystem({ NODE_ENV: 'development', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  running = system.processes[0] as RunningProcess
})
afterAll(async () => {
  await system?.stop()
  receiver?.close()
})

const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
const TRACEPARENT = `00-${CALLER.trace}-${CALLER.span}-01`
const attributesOf = ({ attributes }: Received) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
const named = (name: string, trace: string) => spans.find((span) => span.name === name && span.traceId === trace)
const spanNamed = async (name: string, trace = CALLER.trace): Promise<Received> => {
  await until(() => named(name, trace) !== undefined)
  return named(name, trace) as Received
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('a request continues the trace of its caller, which includes its SQL statements, and its log line names the trace', async () => {
    const client = new Client(httpWire(system.origin), system.origin)
    const tokens = await client.getTokens(await client.signedIn(ALICE), DEMO_APP)
    const route = '/oauth/v2/api/resource/get_phonenumber'
    const answer = await fetch(`${system.origin}${route}?access_token=${tokens.access_token}`, {
      method: 'POST',
      headers: { traceparent: TRACEPARENT },
    })
    expect(await answer.json()).toMatchObject({ rescode: 0 })
    const span = await spanNamed(`POST ${route}`)
    expect(span).toMatchObject({ traceId: CALLER.trace, parentSpanId: CALLER.span, kind: 2 })
    expect(attributesOf(span)).toMatchObject({
      'http.route': route,
      'http.response.status_code': 200,
      'gatehouse.code': 0,
      'gatehouse.request_id': answer.headers.get('x-request-id'),
    })
    const statement = await spanNamed('SELECT')
    expect(statement).toMatchObject({ parentSpanId: span.spanId, kind: 3 })
    expect(attributesOf(statement)).toMatchObject({ 'db.system.name': 'postgresql' })
    expect(services).toEqual(new Set(['gatehouse']))
    const line = running
      .output()
      .split('\n')
      .find((text) => text.includes(String(answer.headers.get('x-request-id'))))
    expect(line).toContain(`"trace":"${CALLER.trace}"`)
    dataOf(await client.userInfo(tokens.access_token))
    expect(JSON.stringify(spans)).not.toContain(tokens.access_token)
  })

  it('a call to a partner belongs to the request that caused it, and the partner gets the trace', async () => {
    const [partner] = await system.query("select partner_id from partner where client_id = 'demo-partner'")
    const path = `/admin/v1/partners/${partner?.partner_id}/products/pull`
    const headers = { traceparent: TRACEPARENT, authorization: `Bearer ${ADMIN_TOKEN}` }
    const answer = await fetch(system.origin + path, { method: 'POST', headers })
    expect(answer.status).toBe(200)
    const request = await spanNamed('POST /admin/v1/partners/:partner_id/products/pull')
    const call = await spanNamed('POST product-pull')
    expect(call).toMatchObject({ parentSpanId: request.spanId, kind: 3 })
    expect(attributesOf(call)).toMatchObject({
      'http.response.status_code': 200,
      'gatehouse.partner_id': String(partner?.partner_id),
    })
    const sent = await system.query(
      "select request_headers ->> 'traceparent' as traceparent from partner_call order by arrival",
    )
    expect(sent.map(({ traceparent }) => traceparent)).toContain(`00-${CALLER.trace}-${call.spanId}-01`)
  })

  it('a durable job is a trace of its own', async () => {
    await system.query(
      'select graphile_worker.add_job(\'member-password\', \'{"clientId":"nobody","mail":"a@b.example"}\'::json)',
    )
    await until(() => spans.some(({ name }) => name === 'job member-password'))
    expect(spans.find(({ name }) => name === 'job member-password')?.parentSpanId).toBeUndefined()
  })

  it('an invalid traceparent starts a new trace, and a refused request is not a span error', async () => {
    await fetch(`${system.origin}/nowhere`, { headers: { traceparent: 'nonsense' } })
    await until(() => spans.some(({ name }) => name === 'GET (no route)'))
    const lost = spans.find(({ name }) => name === 'GET (no route)') as Received
    expect(lost.parentSpanId).toBeUndefined()
    expect(attributesOf(lost)['http.response.status_code']).toBe(404)
    expect(lost.status.code ?? 0).toBe(0)
  })

  it('probes leave no trace', async () => {
    for (const path of ['/readyz', '/healthz']) expect((await fetch(`${system.origin}${path}`)).status).toBe(200)
    await fetch(`${system.origin}/sign-in`)
    await until(() => spans.some(({ name }) => name === 'GET /sign-in'))
    expect(spans.filter(({ name }) => /readyz|healthz/.test(name))).toEqual([])
  })
})

/** A file of the build and everything that it imports statically, however indirectly. */
function withImports(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found
  const text = readFileSync(file, 'utf8')
  found.set(file, text)
  for (const [, name = ''] of text.matchAll(/^import .*?["'](\.[^"']+)["'];$/gm)) {
    withImports(join(dirname(file), name), found)
  }
  return found
}

describe('without OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('no OpenTelemetry package is loaded at start except the API that prom-client needs', () => {
    const loaded = new Map<string, string>()
    for (const file of ['main.js', 'parts/process.js', 'parts/app.js']) withImports(join(ROOT, '.build', file), loaded)
    const packages = [...loaded.values()].flatMap((text) =>
      [...text.matchAll(/^\s*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, name]) => name),
    )
    expect(packages).toContain('fastify')
    const opentelemetry = packages.filter((name) => name?.startsWith('@opentelemetry/'))
    expect(new Set(opentelemetry)).toEqual(new Set(['@opentelemetry/api']))
  })
})
