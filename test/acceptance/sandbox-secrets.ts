import { expect } from 'vitest'
import type { PostOffice } from '../sandbox/notify/post-office.ts'
import { listen } from '../sandbox/pages/listener.ts'
import { signatureOf, signedHeaders } from '../signer.ts'
import type { Canaries } from './canaries.ts'
import type { Person } from './sandbox-person.ts'
import type { System } from './system.ts'

/** Collects every place that a secret of the walk could have reached, and every signature that was sent. */

export const PARTNER = {
  partnerId: '7001',
  clientId: 'demo-partner',
  clientSecret: 'demo-partner-secret-local-use-only',
  aesKey: 'demo-aes-key-16c',
}

/** Printed by `npm start` on purpose. */
const WELCOME = `clientId ${PARTNER.clientId}, clientSecret ${PARTNER.clientSecret}`

const secret = PARTNER.clientSecret

/**
 * Recomputes every signature that we or the partner sent from the stored calls, and registers them. Returns how many of
 * our calls were stored with the beginning of the recomputed signature; steps that sign wrongly on purpose do not
 * match.
 */
async function guardSignatures(system: System, canaries: Canaries): Promise<{ calls: number; known: number }> {
  const calls = await system.query('select url, request_headers as headers from partner_call')
  let known = 0
  for (const { url, headers } of calls) {
    const { Date: date, Authorization: shown } = headers as Record<string, string>
    const signature = signatureOf({ path: new URL(String(url)).pathname, date: String(date), secret })
    canaries.guard('signature of ours', signature)
    if (String(shown).split(':').at(-1) === `${signature.slice(0, 4)}…`) known++
  }
  const notices = await system.query('select path, received_at as at from notice')
  for (const { path, at } of notices) {
    for (const ago of [0, 1, 2]) {
      const date = new Date((at as Date).getTime() - ago * 1_000).toUTCString()
      canaries.guard('signature of the partner', signatureOf({ path: String(path), date, secret }))
    }
  }
  return { calls: calls.length, known }
}

/** Sends a call as the partner does and registers its signature. */
export async function send(canaries: Canaries, url: string, { newline = '\n', body = '{}', method = 'POST' } = {}) {
  const path = new URL(url).pathname
  const date = new Date().toUTCString()
  const signature = canaries.guard('signature of a call', signatureOf({ method, path, date, secret, newline }))
  const headers = {
    ...signedHeaders(PARTNER, { method, path, date }),
    Authorization: `MWS ${PARTNER.clientId}:${signature}`,
  }
  const answer = await fetch(url, { method, headers, ...(method === 'GET' ? {} : { body }) })
  return { status: answer.status, text: await answer.text() }
}

/** The whole event stream of a run, as a browser gets it that follows from the beginning. */
async function streamOf(origin: string, runPath: string, cookie: string, lastSeq: number): Promise<string> {
  const listener = await listen(`${origin}${runPath}/events?after=0`, { cookie })
  await listener.until((heard) => (heard.at(-1)?.id ?? 0) >= lastSeq)
  listener.cut()
  return JSON.stringify(listener.heard)
}

interface Walked {
  readonly system: System
  readonly person: Person
  readonly office: PostOffice
  readonly runId: string
  readonly canaries: Canaries
}

/** Everything that was written anywhere, keyed by place. */
async function placesOf({ system, person, office, runId, canaries }: Walked): Promise<Map<string, string>> {
  const { origin } = system
  const { header } = await person.session()
  const [run] = await system.query('select last_seq from sandbox_run where run_id = $1', [runId])
  const api = (path: string) => send(canaries, `${origin}/sandbox/api/runs/${runId}/${path}`, { method: 'GET' })
  const places = new Map<string, string>()
  places.set('event stream', await streamOf(origin, `/sandbox/run/${runId}`, header, Number(run?.last_seq)))
  places.set('report (JSON)', (await api('report')).text)
  places.set('JUnit', (await api('report.xml')).text)
  const [signed] = await system.query('select report_id from sandbox_report')
  places.set('signed report', await person.read(`/sandbox/verify/${signed?.report_id}/report.json`))
  places.set('mails', office.mails.map(({ raw, mail }) => raw + mail.text + mail.html).join('\n'))
  const tables = await system.query(
    'select quote_ident(schemaname) as schema, quote_ident(relname) as name from pg_stat_user_tables order by 1, 2',
  )
  for (const { schema, name } of tables) {
    const rows = await system.query(`select row::text as text from ${schema}.${name} as row`)
    if (rows.length > 0) places.set(`table ${name}`, rows.map(({ text }) => text).join('\n'))
  }
  places.set('pages and answers (HTML)', person.seen.join('\n'))
  const [process] = system.processes
  places.set('log of the service and of the demo partner', String(process?.output()).replace(WELCOME, ''))
  return places
}

const links = (html: string, pattern: RegExp) => [
  ...new Set([...html.matchAll(pattern)].map(([, href]) => String(href))),
]

/** Opens every step's page, one earlier attempt, and every call in the traffic. */
export async function readTheRest({ person, runId }: Walked): Promise<void> {
  const run = await person.read(`/sandbox/run/${runId}`)
  const steps = links(run, /href="(\/sandbox\/run\/[\da-f-]+\?step=[\w-]+)"/g)
  expect(steps.length).toBeGreaterThan(20)
  for (const step of steps) await person.read(step)
  await person.read(`${steps[1]}&attempt=1`)
  let list = '/sandbox/traffic'
  for (;;) {
    const html = await person.read(list)
    for (const entry of links(html, /href="(\/sandbox\/traffic\/\w+\/[\da-f-]+)"/g)) await person.read(entry)
    const [older] = links(html, /href="([^"]+)" rel="next"/g)
    if (!older) break
    list = older.replaceAll('&amp;', '&')
  }
}

/**
 * Sends a correctly signed notice that repeats the secret in its body and is refused, so it is kept for the partner to
 * see.
 */
export async function sendRefused({ system, canaries }: Walked): Promise<void> {
  const body = `{"body":{"orderId":1,"note":"${PARTNER.clientSecret}"}}`
  const url = `${system.origin}/mtp/api/order/consume/notice`
  expect((await send(canaries, url, { body })).text).toContain('"code":300')
}

/** Searches every place; returns lines to print that say what was searched for and where. */
export async function search(walked: Walked): Promise<string[]> {
  const { system, canaries } = walked
  const places = await placesOf(walked)
  const { calls, known } = await guardSignatures(system, canaries)
  expect(calls).toBeGreaterThan(20)
  expect(calls - known, 'calls that are signed wrongly on purpose').toBeLessThanOrEqual(2)
  for (const name of ['partner_call', 'rejected_call', 'notice', 'sandbox_event', 'sandbox_report', 'signature_test']) {
    expect([...places.keys()]).toContain(`table ${name}`)
  }
  // The calls that repeated a secret were stored, with the secret masked.
  expect(places.get('table partner_call')).toContain('[secret]')
  expect(places.get('table rejected_call')).toContain('[secret]')
  for (const [place, text] of places) {
    expect(text.length, place).toBeGreaterThan(20)
    expect(canaries.search(text), place).toEqual([])
  }
  const sizes = [...places].map(([place, text]) => `${place} ${Math.ceil(text.length / 1024)} KiB`)
  return [
    `  secrets: ${canaries.guarded.join('; ')}; ${calls} calls of ours`,
    `  searched, raw, URL-encoded, JSON, hex, Base64: ${sizes.join('; ')}`,
  ]
}
