import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { curlOf } from '../../src/sandbox/portal/traffic/curl.ts'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { findPartner, updatePartner } from '../../src/ticketing/partners/partner.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { fakeSeller, ok, refusal, worldWithSeller } from '../partner-calls/fake-seller.ts'

/** Options for a partner without an AES key. */
const PLAIN = { encrypted: false, namesApp: false }

const { world, seller, close } = await worldWithSeller()
afterAll(close)

/** Runs a script as the partner's engineer would; the seller verifies the signature with its own signer. */
const run = (script: string, environment: Record<string, string> = { CLIENT_SECRET: seller.secret }) =>
  promisify(execFile)('sh', ['-c', script], { env: { PATH: process.env.PATH, ...environment } })

describe('a call as cURL', () => {
  it('makes the same call, signed when it runs, and holds no secret', async () => {
    seller.on(
      '/order/query',
      ok({ orderId: 9007199254740993n, orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }),
    )
    const partner = await findPartner(world.deps, seller.partnerId)
    if (!partner) throw new Error('no partner')
    const body = { orderId: 9007199254740993n, partnerOrderId: `it's "P" $(id) \\n %s 中文 \`x\`` }
    const { callId } = await callPartner(world.deps, partner, 'order-query', body)
    const { curl = '' } = await showEntry(world.deps, seller.partnerId, { kind: 'call', id: callId })
    expect(curl).not.toContain(seller.secret)
    expect(curl).not.toContain(seller.calls[0]?.headers.authorization?.slice(-12))
    const { stdout, stderr } = await run(curl)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ code: 200 })
    const [ours, theirs] = seller.calls
    expect(theirs?.signedRight).toBe(true)
    expect(Math.abs(Date.parse(theirs?.headers.date ?? '') - Date.now())).toBeLessThan(60_000)
    expect(stringifyLossless(theirs?.body)).toBe(stringifyLossless(ours?.body))
    expect(theirs?.body.partnerOrderId).toBe(body.partnerOrderId)
    expect([theirs?.headers.partnerid, theirs?.headers['content-type']]).toEqual([
      '7001',
      'application/json; charset=utf-8',
    ])
  })

  it('encrypts the body when it runs if the call was encrypted, and holds no key', async () => {
    const AES_KEY = '0123456789abcdef'
    const other = await fakeSeller(world, 7002, { aesKey: AES_KEY })
    other.on('/order/query', refusal(301))
    await setAesKey(world.deps, 7002n, { aes_key: AES_KEY })
    await updatePartner(world.deps, 7002n, { encrypts_calls: true })
    const partner = await findPartner(world.deps, 7002n)
    if (!partner) throw new Error('no partner')
    const body = { orderId: 9007199254740993n, partnerOrderId: `it's "P" $(id) \\n %s 中文 \`x\`` }
    const { callId } = await callPartner(world.deps, partner, 'order-query', body)
    const { curl = '' } = await showEntry(world.deps, 7002n, { kind: 'call', id: callId })
    expect(curl).not.toContain(AES_KEY)
    const hex = Buffer.from(AES_KEY).toString('hex')
    for (const key of [AES_KEY, hex])
      expect((await run(curl, { CLIENT_SECRET: other.secret, AES_KEY: key })).stderr).toBe('')
    const [ours, ...theirs] = other.calls
    expect(theirs.map(({ text }) => text)).toEqual([ours?.text, ours?.text])
    expect(theirs[0]).toMatchObject({ signedRight: true, body, headers: { appkey: 'seller-7002' } })
    await expect(run(curl, { CLIENT_SECRET: other.secret })).rejects.toThrow('set it to your AES key')
    const { callId: plain } = await callPartner(world.deps, partner, 'heartbeat', {})
    const shown = await showEntry(world.deps, 7002n, { kind: 'call', id: plain })
    await run(shown.curl ?? '', { CLIENT_SECRET: other.secret })
    expect(other.calls.at(-1)).toMatchObject({
      signedRight: true,
      text: '{"partnerId":7002,"body":{}}',
      headers: { appkey: 'seller-7002' },
    })
    await other.close()
  })

  it('says that the secret is missing when there is none, and sends nothing', async () => {
    const calls = seller.calls.length
    const script = curlOf({
      url: `${seller.url}/alive`,
      clientId: 'seller-7001',
      partnerId: '7001',
      body: '{}',
      ...PLAIN,
    })
    await expect(run(script, {})).rejects.toThrow('set it to your clientSecret')
    expect(seller.calls.length).toBe(calls)
  })

  it.each(["/it's/a path", '/%7Bx%7D/[1-3]', '/{a,b}', '/%s%d', '/order?x=1&y=$HOME'])(
    'signs the path %s',
    async (path) => {
      const url = new URL(seller.url + path)
      const script = curlOf({
        url: url.href,
        clientId: 'seller-7001',
        partnerId: '7001',
        body: '{"partnerId":7001,"body":{}}',
        ...PLAIN,
      })
      await run(script)
      const last = seller.calls.at(-1)
      expect(last?.path).toBe(url.pathname + url.search)
      // This seller signs everything after the host, so only a path without a query can match.
      if (!url.search) expect(last?.signedRight).toBe(true)
    },
  )
})
