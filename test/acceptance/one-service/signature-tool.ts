import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf } from '../../signer.ts'
import { Client } from '../client.ts'
import { type Answer, header, httpWire } from '../http.ts'
import { makeSeller, type Seller, type Sending, SIGNATURE_TEST, send, success } from '../seller.ts'
import { type RunningProcess, sharedSystem } from '../system.ts'

/** The signature tool: 200 for a correct call, 300 and a diagnosis for a wrong one, limited per address. */

let running: RunningProcess
let client: Client
let seller: Seller

beforeAll(async () => {
  const { add } = await sharedSystem()
  running = await add({ TRUST_PROXY: '127.0.0.1', DEMO: 'off', JOBS: 'off' })
  client = new Client(httpWire(running.origin), running.origin)
  seller = await makeSeller(client, { client_id: 'learner', partner_id: 7201 })
})
afterAll(() => running?.stop())

let address = 0
/** Each call comes from a new address, so that the limit does not interfere. */
const test = (sending: Sending = {}, by = seller, path = SIGNATURE_TEST): Promise<Answer> =>
  send(running.origin, by, {
    path,
    body: '{}',
    ...sending,
    headers: { 'X-Forwarded-For': `10.0.${address >> 8}.${++address & 255}`, ...sending.headers },
  })

interface Diagnosis {
  readonly mistake: string
  readonly mistakes: readonly string[]
  readonly explanation: string
  readonly stringToSign: string
  readonly signedInstead?: string
}

function diagnosisOf(answer: Answer, by = seller): Diagnosis {
  expect(answer.status).toBe(200)
  const { diagnosis, ...envelope } = JSON.parse(answer.text)
  expect(envelope).toEqual({ code: 300, describe: 'BA verification failed', partnerId: by.partnerId })
  expect(diagnosis.mistake).toBe(diagnosis.mistakes[0])
  expect(diagnosis.explanation).not.toBe('')
  return diagnosis
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64')

describe.each(['', '/rhone'])('under the prefix "%s"', (prefix) => {
  it('a correct call gets success', async () => {
    const answer = await test({}, seller, prefix + SIGNATURE_TEST)
    expect(answer.text).toBe(success(seller))
    expect(answer.status).toBe(200)
  })

  it.each<[string, string | undefined, string[]]>([
    ['', 'application/json', ['body-not-json']],
    ['{"partnerId":7201,"body":{}', 'application/json', ['body-not-json']],
    ['['.repeat(10_000), 'text/json', ['body-not-json']],
    ['{"body":{}}', 'application/json', ['body-partner-id-missing']],
    ['{"partnerId":"7202","body":{}}', 'application/json', ['body-partner-id-mismatch']],
    [`{"x":"${'x'.repeat(2 ** 21)}"}`, 'application/json', ['body-too-long']],
    ['{"partnerId":"7201","body":{}}', 'application/json; charset=UTF-8', []],
  ])('warns a correct call of a body that notices refuse: %#', async (body, type, warnings) => {
    const answer = await test({ body, headers: { 'Content-Type': type } }, seller, prefix + SIGNATURE_TEST)
    const { warnings: told = [], ...envelope } = JSON.parse(answer.text)
    expect(envelope).toEqual(JSON.parse(success(seller)))
    expect(told).toEqual(warnings)
  })

  it.each([undefined, 'text/plain', 'application/', 'text/json; charset=gbk', 'application/x-www-form-urlencoded'])(
    'a Content-Type that would be refused in a notice is a mistake: %s',
    async (type) => {
      const body = `{"partnerId":${seller.partnerId},"body":{}}`
      const answer = await test({ body, headers: { 'Content-Type': type } }, seller, prefix + SIGNATURE_TEST)
      expect(diagnosisOf(answer).mistakes).toEqual(['content-type-not-json'])
    },
  )

  it('a wrong call gets the text that should have been signed, and the one that was', async () => {
    const date = new Date().toUTCString()
    const path = prefix + SIGNATURE_TEST
    const answer = await test({ date, signed: { newline: '' } }, seller, path)
    expect(diagnosisOf(answer)).toEqual({
      mistake: 'newline-missing',
      mistakes: ['newline-missing'],
      explanation: expect.stringContaining('line feed'),
      stringToSign: `POST ${path}\n${date}`,
      signedInstead: `POST ${path}${date}`,
    })
  })
})

describe('mistakes', () => {
  const now = new Date()
  const longAgo = 'Tue, 05 May 2015 06:11:34 GMT'

  it.each<[string, () => Sending, string[]]>([
    ['the full URL', () => ({ signed: { path: `${running.origin}${SIGNATURE_TEST}` } }), ['full-url-signed']],
    [
      'the path of another prefix',
      () => ({ signed: { path: `/rhone${SIGNATURE_TEST}` } }),
      ['path-of-another-environment'],
    ],
    ['another secret', () => ({ signed: { secret: 'another' } }), ['signature-unrecognised']],
    [
      'the secret with a newline',
      () => ({ signed: { secret: `${seller.clientSecret}\n` } }),
      ['secret-with-white-space'],
    ],
    [
      'ISO date',
      () => ({ date: now.toUTCString(), signed: { date: `${now.toISOString().slice(0, 19)}Z` } }),
      ['date-signed-as-iso-8601'],
    ],
    ['an old date', () => ({ date: longAgo }), ['clock-slow']],
    ['two at once', () => ({ date: longAgo, signed: { newline: '' } }), ['newline-missing', 'clock-slow']],
    [
      'two at once in the signature',
      () => ({ signed: { newline: '', secret: `${seller.clientSecret}\n` } }),
      ['newline-missing', 'secret-with-white-space'],
    ],
    ['no Authorization', () => ({ headers: { Authorization: undefined } }), ['authorization-missing']],
    ['no Date', () => ({ headers: { Date: undefined } }), ['date-header-missing']],
    ['a PartnerId of another', () => ({ headers: { PartnerId: '7202' } }), ['partner-id-mismatch']],
  ])('%s', async (_name, sending, mistakes) => {
    expect(diagnosisOf(await test(sending())).mistakes).toEqual(mistakes)
  })

  it('of an unknown caller are not recognised', async () => {
    const stranger = { ...seller, clientId: 'nobody', partnerId: '999' }
    const { mistakes } = diagnosisOf(await test({}, stranger), stranger)
    expect(mistakes).toEqual(['signature-unrecognised'])
  })

  it('do not include leading zeros, which notices accept too', async () => {
    const zeros = await test({ headers: { PartnerId: '007201' } })
    expect(zeros.text).toBe(success(seller))
  })

  it('include doubled headers and a suspended partner, which notices refuse too', async () => {
    const date = new Date().toUTCString()
    const signature = signatureOf({ path: SIGNATURE_TEST, date, secret: seller.clientSecret })
    const right = `MWS ${seller.clientId}:${signature}`
    for (const headers of [
      { Authorization: [right, right] },
      { Date: [date, date] },
      { PartnerId: ['7201', '7201'] },
    ]) {
      expect(diagnosisOf(await test({ date, headers })).mistakes).toEqual(['header-doubled'])
    }
    const suspended = await makeSeller(client)
    await client.admin('POST', `/partners/${suspended.partnerId}/suspend`)
    expect(diagnosisOf(await test({}, suspended), suspended).mistakes).toEqual(['partner-suspended'])
  })
})

it('the correct signature and the secret are never revealed', async () => {
  const date = new Date().toUTCString()
  const right = signatureOf({ path: SIGNATURE_TEST, date, secret: seller.clientSecret })
  const hex = bytesOf(right).toString('hex')
  for (const signed of [
    { newline: '' },
    { newline: ' ' },
    { secret: ` ${seller.clientSecret}` },
    { secret: seller.clientSecret.slice(1) },
    { secret: 'wrong' },
    { path: '/x' },
  ]) {
    const { text } = await test({ date, signed })
    for (const secret of [right, right.slice(0, 12), hex, hex.slice(0, 16), seller.clientSecret]) {
      expect(text).not.toContain(secret)
    }
  }
})

it('sixty calls a minute per address are answered, over all prefixes; then only that address gets 429 with Retry-After', async () => {
  const from = (forwarded: string, prefix = '') =>
    test({ headers: { 'X-Forwarded-For': forwarded } }, seller, prefix + SIGNATURE_TEST)
  const answers = []
  for (let sent = 0; sent < 80; sent++) answers.push(await from('192.0.2.7', sent % 2 === 0 ? '' : '/rhone'))
  const limited = answers.filter(({ status }) => status === 429)
  expect(limited).toHaveLength(20)
  for (const answer of limited) {
    expect(answer.text).toBe('{"code":300,"describe":"too many calls; try again later","partnerId":"7201"}')
    expect(Number(header(answer, 'retry-after'))).toBeGreaterThan(0)
    expect(Number(header(answer, 'retry-after'))).toBeLessThanOrEqual(60)
    expect(header(answer, 'content-type')).toBe('application/json; charset=utf-8')
  }
  expect((await from('192.0.2.8')).text).toBe(success(seller))
})

it('an IPv6 /64 network counts as one address', async () => {
  const answers = []
  for (let sent = 0; sent < 61; sent++) {
    answers.push(await test({ headers: { 'X-Forwarded-For': `2001:db8:1:2::${sent.toString(16)}` } }))
  }
  expect(answers.at(-1)?.status).toBe(429)
})
