import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { read } from '../documents/document.ts'
import { until } from '../until.ts'
import { ALICE, Client, DEMO_APP, dataOf } from './client.ts'
import { httpWire } from './http.ts'
import { ADMIN_TOKEN, type RunningProcess, type System, startSystem } from './system.ts'

/** `/metrics` of the real service with two server processes, and the dashboard and alerts that use it. */

const FOLDER = new URL('../../src/operations/metrics/', import.meta.url).pathname
const USER_INFO = '/oauth/v2/api/resource/get_userinfo'

let system: System
let running: RunningProcess
beforeAll(async () => {
  system = await startSystem({ NODE_ENV: 'development', HTTP_PROCESSES: '2' })
  running = system.processes[0] as RunningProcess
})
afterAll(() => system?.stop())

const asked = (token: string | undefined) =>
  fetch(`${system.origin}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
const metrics = async (): Promise<string> => (await asked(ADMIN_TOKEN)).text()

/** The sum of all series with these labels; 0 if there is none. */
function sumOfSeries(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  const fitting = lines.filter((line) =>
    Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)),
  )
  return fitting.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
const answered = (text: string) =>
  sumOfSeries(text, 'gatehouse_http_requests_total', { route: USER_INFO, outcome: 'ok' })

/** Opens a new connection for each call, so that calls reach both processes. */
const wire = () => httpWire(system.origin, new Agent({ connections: 32, pipelining: 0 }))
const client = () =>
  new Client((call) => wire()({ ...call, headers: { ...call.headers, connection: 'close' } }), system.origin)
const serverPids = () =>
  [...running.output().matchAll(/\((\d+)\): a server process is ready/g)].map(([, pid]) => Number(pid))

describe('/metrics', () => {
  it('is for operators only', async () => {
    expect((await asked(undefined)).status).toBe(401)
    expect((await asked('another')).status).toBe(401)
    const answer = await asked(ADMIN_TOKEN)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  it('counts the answers of all processes whichever is asked, including those of a process that has ended', async () => {
    const visitor = client()
    const before = await metrics()
    const tokens = await visitor.getTokens(await visitor.signedIn(ALICE), DEMO_APP)
    const CALLS = 60
    const bodies = await Promise.all(Array.from({ length: CALLS }, () => visitor.userInfo(tokens.access_token)))
    for (const body of bodies) dataOf(body)
    await visitor.userInfo('ghat_nonsense')
    const texts = await Promise.all(Array.from({ length: 6 }, metrics))
    for (const text of texts) expect(answered(text) - answered(before)).toBe(CALLS)
    const [text = ''] = texts
    expect(sumOfSeries(text, 'gatehouse_processes')).toBe(3) // including the primary
    expect(sumOfSeries(text, 'gatehouse_codes_total', { route: USER_INFO, code: '20009' })).toBe(1)
    expect(sumOfSeries(text, 'gatehouse_http_request_duration_seconds_count', { route: USER_INFO })).toBe(CALLS + 1)
    expect(sumOfSeries(text, 'gatehouse_http_request_duration_seconds_bucket', { route: USER_INFO, le: '+Inf' })).toBe(
      CALLS + 1,
    )
    expect(sumOfSeries(text, 'gatehouse_tokens_issued_total', { grant: 'authorization_code' })).toBe(1)
    expect(sumOfSeries(text, 'gatehouse_batch_items_count', { kind: 'read' })).toBeGreaterThan(0)
    expect(sumOfSeries(text, 'gatehouse_database_up')).toBe(1)
    expect(sumOfSeries(text, 'gatehouse_postgresql_size_bytes')).toBeGreaterThan(1_000_000)
    expect(sumOfSeries(text, 'gatehouse_database_connections')).toBeGreaterThan(0)

    const [victim = 0] = serverPids()
    process.kill(victim, 'SIGKILL')
    await until(() => serverPids().length === 3)
    await until(async () => sumOfSeries(await metrics(), 'gatehouse_processes') === 3)
    expect(answered(await metrics()) - answered(before)).toBe(CALLS)
  })

  it('counts a failed sign-in, and contains nothing that a caller has sent', async () => {
    const body = new URLSearchParams({ passport: 'nobody-13800000000', password: 'wrong-password' })
    await fetch(`${system.origin}/sign-in`, { method: 'POST', body, headers: { origin: system.origin } })
    await fetch(`${system.origin}/unheard-of/13800000000?token=x`)
    const text = await metrics()
    expect(sumOfSeries(text, 'gatehouse_sign_in_failures_total', { kind: 'passport' })).toBe(1)
    expect(sumOfSeries(text, 'gatehouse_http_requests_total', { route: '(no route)', outcome: 'refused' })).toBe(1)
    expect(text).not.toMatch(/13800000000|unheard-of|nobody/)
  })
})

it('/metrics says when a purge last completed, even in another process', async () => {
  const finished = async () => sumOfSeries(await metrics(), 'gatehouse_purge_finished_timestamp_seconds')
  await until(async () => (await finished()) > 0) // the service purges by itself too
  await system.query("update installation set purged_at = '2026-01-01T00:00:00Z'")
  expect(await finished()).toBe(Date.parse('2026-01-01T00:00:00Z') / 1000)
})

describe('dashboard and alerts', () => {
  /** Names of all series, including those of histograms. */
  const given = async (): Promise<Set<string>> =>
    new Set(
      [...(await metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    )
  const named = (query: string): string[] =>
    query.match(/\b(?:gatehouse|nodejs|process)_\w+/g)?.filter((name) => name !== 'process_cpu') ?? []

  it('every query of the dashboard uses metrics that exist', async () => {
    const dashboard = JSON.parse(read('.github/dashboard.json'))
    const queries: string[] = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
      (panel.targets ?? []).map(({ expr }) => expr),
    )
    expect(queries.length).toBeGreaterThan(20)
    const known = await given()
    for (const query of queries) {
      expect(named(query), query).not.toEqual([])
      for (const name of named(query)) expect(known, query).toContain(name)
    }
  })

  it('every alert uses metrics that exist', async () => {
    const rules = readFileSync(`${FOLDER}alerts.yml`, 'utf8')
    const known = await given()
    expect(named(rules).length).toBeGreaterThan(10)
    for (const name of named(rules)) expect(known).toContain(name)
  })

  const promtool = ['/usr/bin/promtool', process.env.PROMTOOL ?? ''].find((path) => path !== '' && existsSync(path))
  if (!promtool)
    process.stderr.write('test/acceptance/metrics.test.ts: no promtool (apt install prometheus); rules not loaded\n')

  it.skipIf(!promtool)('promtool loads the rules and finds no fault with the metrics', async () => {
    const run = promisify(execFile)
    expect((await run(promtool ?? '', ['check', 'rules', `${FOLDER}alerts.yml`])).stdout).toContain('SUCCESS')
    const checking = run(promtool ?? '', ['check', 'metrics'])
    checking.child.stdin?.end(await metrics())
    // It does find fault with some names of prom-client itself.
    const { stdout, stderr } = await checking.catch((error: { stdout: string; stderr: string }) => error)
    const found = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
    expect(found.filter((line) => !line.startsWith('nodejs_'))).toEqual([])
  })

  it.skipIf(!promtool)('the purge alert fires when no process purges, and only then', async () => {
    const tests = new URL('purge-alert.yml', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(promtool ?? '', ['test', 'rules', tests])
    expect(stdout).toContain('SUCCESS')
  })

  it('every alert says what is wrong and what to do', () => {
    const { groups } = parse(readFileSync(`${FOLDER}alerts.yml`, 'utf8')) as {
      groups: { rules: { alert: string; annotations: object }[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.length).toBeGreaterThan(10)
    for (const { alert, annotations } of rules)
      expect(Object.keys(annotations), alert).toEqual(['summary', 'description'])
  })
})
