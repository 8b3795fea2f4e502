import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { VERSION } from '../../src/platform/lib/version.ts'
import { reportUrl } from '../../src/sandbox/portal/notify/notifications.ts'
import {
  findReport,
  findSigningKey,
  type ReportFacts,
  reportKey,
  reportOfRun,
  storeReport,
  storeReportKeys,
} from '../../src/sandbox/reports/report.ts'
import type { StoredReport } from '../../src/sandbox/reports/store.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { get, newSandboxPartner, post } from '../sandbox/partners.ts'
import { timesOn } from '../times.ts'

const NASTY = `Lake <script>alert(1)</script>"'&`
const AT = '2026-05-06T10:34:20.000Z'
const FACTS: ReportFacts = {
  partner_id: '9007199254740993',
  partner_name: NASTY,
  run_number: 3,
  functions: ['product-pull', 'a-function-of-the-past'],
  steps: [
    { id: 'heartbeat', passed_at: AT, attempts: 1 },
    { id: 'a-step-of-the-past', passed_at: AT, attempts: 7 },
  ],
  not_tested: ['lost-answer', 'another-step-of-the-past'],
  evidence: { consumption: ['8985652356562000001'], refund: ['8985652356562000002', '8985652356562000003'] },
  passed_at: AT,
}

const verifyReport = async (...signed: Parameters<typeof findSigningKey>) =>
  (await findSigningKey(...signed)) !== undefined

let world: World
let stored: StoredReport
async function newRun(): Promise<string> {
  const { partner_id } = await newSandboxPartner(world)
  const runId = randomUUID()
  await world.pool.query(
    `insert into sandbox_run (run_id, partner_id, number, choice, created_at) values ($1, $2, 3, '{}', now())`,
    [runId, partner_id],
  )
  return runId
}
beforeAll(async () => {
  world = await openWorld({ PUBLIC_URL: 'https://gate.example' })
  stored = await storeReport(world.deps, await newRun(), FACTS)
})
afterAll(() => world.close())

const paste = (content: string, signature = stored.signature, headers: Record<string, string> = {}) =>
  post(world, '/sandbox/verify', { content, signature }, headers)
const pretty = (change: (report: Record<string, unknown>) => void = () => {}) => {
  const report = Object.fromEntries(Object.entries(JSON.parse(stored.content)).reverse())
  change(report)
  return JSON.stringify(report, null, 2).replaceAll('\n', '\r\n')
}

describe('a report', () => {
  it('states who passed what with which evidence, and is signed', async () => {
    expect(JSON.parse(stored.content)).toEqual({
      ...FACTS,
      format: 'gatehouse-sandbox-report-1',
      issuer: 'https://gate.example',
      report_id: stored.report_id,
      service_version: VERSION,
    })
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+/)
    expect(stored.content).toMatch(/^\{"evidence":\{"consumption":\["8985652356562000001"\],/)
    expect(stored.report_id).toMatch(/^[\w-]{22}$/)
    expect(reportUrl(world.deps, stored.report_id)).toBe(`https://gate.example/sandbox/verify/${stored.report_id}`)
    expect(await verifyReport(world.deps, stored.content, stored.signature)).toBe(true)
  })

  it('is created once per run', async () => {
    const runId = await newRun()
    expect(await reportOfRun(world.deps, runId)).toBeUndefined()
    const all = await Promise.all(Array.from({ length: 5 }, () => storeReport(world.deps, runId, FACTS)))
    expect(new Set(all.map(({ report_id }) => report_id)).size).toBe(1)
    expect(await storeReport(world.deps, runId, { ...FACTS, run_number: 9 })).toEqual(all[0])
    expect(await reportOfRun(world.deps, runId)).toEqual(all[0])
    expect(await findReport(world.deps, String(all[0]?.report_id))).toEqual(all[0])
    for (const wrong of ['', runId, 'x'.repeat(22), '\0', `${stored.report_id}=`])
      expect(await findReport(world.deps, wrong)).toBeUndefined()
  })

  it('does not verify when anything was changed or another key signed it', async () => {
    for (let at = 0; at < stored.content.length; at++) {
      const character = stored.content[at] === 'x' ? 'y' : 'x'
      const changed = stored.content.slice(0, at) + character + stored.content.slice(at + 1)
      expect(await verifyReport(world.deps, changed, stored.signature), changed).toBe(false)
    }
    for (const signature of ['', 'x', 'A'.repeat(86), `${stored.signature}A`, stored.signature.toLowerCase()])
      expect(await verifyReport(world.deps, stored.content, signature)).toBe(false)
    const other = { db: world.deps.db, keys: deriveKeys(`${SECRET_KEY}!`) }
    expect(await verifyReport(other, stored.content, stored.signature)).toBe(false)
  })

  it('still verifies after SECRET_KEY is replaced, even once the old key is gone', async () => {
    const { db, clock } = world.deps
    const next = `${SECRET_KEY} next`
    const both = { ...world.deps, keys: deriveKeys(next, [SECRET_KEY]) }
    expect(await verifyReport(both, stored.content, stored.signature)).toBe(true)
    const alone = { db, keys: deriveKeys(next) }
    expect(await verifyReport(alone, stored.content, stored.signature)).toBe(false)
    for (let time = 0; time < 2; time++) await storeReportKeys({ ...both, clock })
    expect(await verifyReport(alone, stored.content, stored.signature)).toBe(true)
  })
})

describe('the report key', () => {
  it('is derived from its seed as in RFC 8037, appendix A', () => {
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
    expect(reportKey({ ...world.deps.keys, report: seed }).jwk).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      use: 'sig',
      alg: 'EdDSA',
    })
  })

  it('is published without its private part, never changes, and verifies reports', async () => {
    const answer = await get(world, '/sandbox/report-key')
    expect(answer.headers['content-type']).toMatch(/^application\/jwk\+json/)
    const jwk = answer.json()
    expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
    expect(jwk.kid).toBe(stored.key_id)
    expect(jwk).toEqual(reportKey(deriveKeys(SECRET_KEY)).jwk)
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    expect(verify(null, Buffer.from(stored.content), key, Buffer.from(stored.signature, 'base64url'))).toBe(true)
    const pem = (await get(world, '/sandbox/report-key.pem')).body
    expect(pem).toMatch(/^-----BEGIN PUBLIC KEY-----/)
    expect(createPublicKey(pem).equals(key)).toBe(true)
  })
})

describe('the page of a report', () => {
  const page = (id = stored.report_id, headers = {}) => get(world, `/sandbox/verify/${id}`, '', headers)

  it('shows the signed content to everybody, escaped', async () => {
    const { statusCode, body, headers } = await page()
    expect(statusCode).toBe(200)
    for (const text of [
      '<h1>The report is genuine</h1>',
      'Lake &lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;',
      '(PartnerId 9007199254740993)',
      '<time datetime="2026-05-06T10:34:20.000Z" title="2026-05-06 10:34:20 UTC">2026-05-06 10:34:20 UTC</time>',
      'Product pull · a-function-of-the-past',
      'Heartbeat <small>heartbeat</small>',
      'a-step-of-the-past <small>',
      ...['8985652356562000001', '8985652356562000002', '8985652356562000003'],
      ...[stored.signature, stored.key_id, reportKey(world.deps.keys).jwk.x],
      'Steps passed: 2',
      'Not tested: A lost response · another-step-of-the-past',
    ])
      expect(body).toContain(text)
    const without = body.replaceAll(/<script src="\/assets\/[\w-]+\.js\?v=\w+" defer><\/script>/g, '')
    expect(without).not.toMatch(/<script|<[^>]*\s(style|on\w+)=/i)
    expect(timesOn(body).stray).toEqual([])
    expect(headers['content-security-policy']).toContain("default-src 'none';script-src 'self';style-src 'self'")
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  it('shows and offers the key that signed it, even after SECRET_KEY was replaced', async () => {
    const before = `${SECRET_KEY} before`
    const former = { ...world.deps, keys: deriveKeys(before) }
    const { report_id, content, signature } = await storeReport(former, await newRun(), FACTS)
    await storeReportKeys({ ...world.deps, keys: deriveKeys(SECRET_KEY, [before]) })
    const { body } = await page(report_id)
    expect(body).toContain('<h1>The report is genuine</h1>')
    const { kid, x } = reportKey(former.keys).jwk
    expect(body).toContain(`<code>${kid}</code>`)
    expect(body).toContain(`<code>${x}</code>`)
    const [, path = ''] = /curl -sO https:\/\/gate\.example(\S+\/report-key\.pem)/.exec(body) ?? []
    const key = createPublicKey((await get(world, path)).body)
    expect(verify(null, Buffer.from(content), key, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('is available in Chinese', async () => {
    const { body } = await page(stored.report_id, { 'accept-language': 'zh' })
    expect(body).toContain('<h1>报告真实有效</h1>')
    expect(body).toContain('心跳')
  })

  it('offers the signed bytes for download', async () => {
    const file = (name: string) => get(world, `/sandbox/verify/${stored.report_id}/${name}`)
    expect((await file('report.json')).body).toBe(stored.content)
    expect((await file('report.sig')).rawPayload).toEqual(Buffer.from(stored.signature, 'base64url'))
    for (const name of ['report.json', 'report.sig', 'report-key.pem'])
      expect((await get(world, `/sandbox/verify/${'x'.repeat(22)}/${name}`)).statusCode).toBe(404)
  })

  it('says that there is no such report', async () => {
    for (const id of ['x'.repeat(22), 'x', '%00', stored.run_id]) {
      const { statusCode, body } = await page(id)
      expect(statusCode).toBe(404)
      expect(body).toContain('<h1>There is no such report</h1>')
    }
  })

  it('says that the report is not genuine when its row was altered', async () => {
    const { report_id } = await storeReport(world.deps, await newRun(), FACTS)
    await world.pool.query(
      `update sandbox_report set content = replace(content, 'Lake', 'Pond') where report_id = $1`,
      [report_id],
    )
    const { body } = await page(report_id)
    expect(body).toContain('<h1>The report is not genuine</h1>')
    expect(body).not.toContain('Pond')
  })
})

describe('the verification form', () => {
  it('recognizes a genuine report, however it is formatted', async () => {
    for (const content of [stored.content, `\ufeff \n${stored.content}\n`, pretty()]) {
      const { statusCode, body } = await paste(content, ` ${stored.signature}\n`)
      expect(statusCode).toBe(200)
      expect(body).toContain('<h1>The report is genuine</h1>')
      expect(body).toContain('8985652356562000003')
    }
  })

  it.each<[string, (report: Record<string, unknown>) => void]>([
    ['another name', (report) => Object.assign(report, { partner_name: 'Pond' })],
    ['another run', (report) => Object.assign(report, { run_number: 4 })],
    ['one step missing', (report) => (report.steps as unknown[]).pop()],
    ['another order', (report) => Object.assign(report, { evidence: { consumption: ['1'], refund: ['2'] } })],
  ])('recognizes a forged report: %s', async (_what, change) => {
    const { statusCode, body } = await paste(pretty(change))
    expect(statusCode).toBe(200)
    expect(body).toContain('<h1>The report is not genuine</h1>')
    expect(body).not.toContain('<h2>Evidence')
  })

  it('rejects the signature of another report', async () => {
    const other = await storeReport(world.deps, await newRun(), { ...FACTS, run_number: 4 })
    expect((await paste(stored.content, other.signature)).body).toContain('not genuine')
    expect((await paste(stored.content, '')).body).toContain('not genuine')
  })

  it.each([
    ['nothing', ''],
    ['not JSON', '<script>alert(1)</script>'],
    ['something else', '{"a":1}'],
    ['an array', '[]'],
    ['deep nesting', '['.repeat(9_000)],
    ['another format', '{"format":"gatehouse-sandbox-report-2"}'],
  ])('rejects what is not a report: %s', async (_what, content) => {
    const { statusCode, body } = await paste(content, stored.signature, { 'x-forwarded-for': '9.9.9.9' })
    expect(statusCode).toBe(400)
    expect(body).toContain('<h1>This is not a report</h1>')
    expect(body).not.toMatch(/<script(?! src="\/assets\/)/)
  })

  it('rejects a report with a duplicate or unknown field', async () => {
    const twice = `{"partner_name":"Pond",${stored.content.slice(1)}`
    expect((await paste(twice)).body).toContain('This is not a report')
    const more = `{"partner_note":"Pond",${stored.content.slice(1)}`
    expect((await paste(more)).body).toContain('This is not a report')
  })

  it('rejects huge input and cross-site forms, and is rate limited', async () => {
    expect((await paste('x'.repeat(70_000))).statusCode).toBe(400)
    expect((await paste(stored.content, '', { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    const more = await Promise.all(Array.from({ length: 30 }, () => paste(stored.content)))
    expect(more.map(({ statusCode }) => statusCode)).toContain(429)
    const limited = await paste(stored.content)
    expect(limited.statusCode).toBe(429)
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
    expect((await get(world, `/sandbox/verify/${stored.report_id}`)).statusCode).toBe(200)
  })
})
