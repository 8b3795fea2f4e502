import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { replay } from '../../src/sandbox/portal/traffic/replay.ts'
import { removeAesKey, setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { createPartner, findPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { aesEncrypted } from '../aes.ts'
import { openWorld, type World } from '../harness.ts'
import { recordOf, seedOrder } from '../orders/orders.ts'
import { signedHeaders } from '../signer.ts'

/** A partner that has an AES key may send the bodies of its notices encrypted or readable. */

const CONSUME = '/mtp/api/order/consume/notice'
const SECRET = '123456ce8b61f8e608eaf2e9702864a9'
const KEY = '0123456789abcdef'
const UNFIT = 'the encrypted body does not decrypt to JSON with the AES key of this partner'
const NO_KEY = 'the body is encrypted, but no AES key is set for this partner'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await createPartner(
    world.deps,
    newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller', stage: 'live' }),
    SECRET,
  )
})
afterAll(() => world.close())

let orderId = 8985652356562370000n
beforeEach(async () => {
  orderId += 1n
  await seedOrder(world.pool, { orderId, quantity: 3, vouchers: ['A', 'B', 'C'] })
  await setAesKey(world.deps, 7001n, { aes_key: KEY })
})

const consumption = (used: number): string =>
  `{"partnerId":7001,"body":{"orderId":${orderId},"partnerOrderId":"P-1","quantity":3,"usedQuantity":${used},"refundedQuantity":0}}`

async function post(payload: string | Buffer, headers: Record<string, string> = {}, secret = SECRET) {
  const date = formatHttpDate(world.clock.now())
  const signed = signedHeaders({ clientId: 'seller', partnerId: '7001', clientSecret: secret }, { path: CONSUME, date })
  const request = { method: 'POST' as const, url: CONSUME, headers: { ...signed, ...headers }, payload }
  return (await world.app.inject(request)).json() as { code: number; describe: string }
}
const rows = async (text: string, ...values: unknown[]) => (await world.pool.query(text, values)).rows
const lastRejected = async () =>
  (await rows('select call_id, reason, headers, body from rejected_call order by received_at desc, call_id limit 1'))[0]
const clearRejected = () => rows('delete from rejected_call')

const SUCCESS = { code: 200, describe: 'success', partnerId: '7001' }
const ENCRYPTED = { 'X-Encryption-Status': 'encrypted', AppKey: 'seller' }

describe('an encrypted notice', () => {
  it.each([
    ['with the header', ENCRYPTED],
    ['without it', {}],
  ])('takes effect like a readable one, %s, and is stored in readable form', async (_name, headers) => {
    expect(await post(aesEncrypted(KEY, consumption(1)), headers)).toEqual(SUCCESS)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ used: 1 })
    expect(await rows('select body from notice where body = $1', consumption(1))).toHaveLength(1)
  })

  it('and a readable one with the same text repeat each other, in either order', async () => {
    expect(await post(consumption(1), ENCRYPTED)).toEqual(SUCCESS)
    expect(await post(aesEncrypted(KEY, consumption(1)))).toEqual(SUCCESS)
    expect(await post(aesEncrypted(KEY, consumption(2)))).toEqual(SUCCESS)
    expect(await post(consumption(2))).toEqual(SUCCESS)
    expect(await rows('select body from notice where body like $1', `%${orderId}%`)).toHaveLength(2)
  })

  it('with an invalid field is refused, naming the field, and stored in readable form for the partner', async () => {
    await clearRejected()
    const wrong = consumption(1).replace('"quantity":3,', '')
    expect(await post(aesEncrypted(KEY, wrong), ENCRYPTED)).toMatchObject({
      code: 300,
      describe: 'body.quantity is required',
    })
    expect(await lastRejected()).toMatchObject({
      body: wrong,
      reason: 'body.quantity is required',
      headers: { 'x-encryption-status': 'encrypted', 'gatehouse-body-decrypted': 'yes' },
    })
  })

  it('is refused while no key is set, and accepted by a replay once there is one', async () => {
    await clearRejected()
    await removeAesKey(world.deps, 7001n)
    const sent = aesEncrypted(KEY, consumption(1))
    expect(await post(sent, ENCRYPTED)).toMatchObject({ code: 300, describe: NO_KEY })
    const { call_id, body } = await lastRejected()
    expect(body).toBe(sent)
    const again = () => replay(world.deps, 7001n, { kind: 'rejected', id: call_id })
    expect(await again()).toMatchObject({ outcome: 'refused' })
    await setAesKey(world.deps, 7001n, { aes_key: KEY })
    expect(await again()).toMatchObject({ outcome: 'accepted' })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ used: 1 })
    expect(await again()).toMatchObject({ outcome: 'again' })
  })

  it('with the wrong key is stored as it came', async () => {
    await clearRejected()
    const sent = aesEncrypted(KEY, 'garbled')
    expect(await post(sent)).toMatchObject({ code: 300, describe: UNFIT })
    expect(await lastRejected()).toMatchObject({ body: sent, reason: UNFIT })
  })

  it('without a valid signature is not decrypted: the answer says nothing about its body', async () => {
    for (const body of [aesEncrypted(KEY, consumption(1)), aesEncrypted(KEY, 'no JSON'), 'AAAA', consumption(1)]) {
      expect(await post(body, ENCRYPTED, 'a wrong secret')).toEqual({
        ...SUCCESS,
        code: 300,
        describe: 'BA verification failed',
      })
    }
  })

  it('that is truncated or not Base64 is refused with the reason', async () => {
    expect(await post(aesEncrypted(KEY, consumption(1)).slice(0, 100))).toMatchObject({
      describe: 'the encrypted body is incomplete: its Base64 has 75 bytes, not a multiple of 16',
    })
    expect(await post(`<${aesEncrypted(KEY, consumption(1))}>`, ENCRYPTED)).toMatchObject({
      describe: 'the body is neither JSON nor the Base64 that X-Encryption-Status announces',
    })
  })

  it('has the same limits as any other: 1 MiB on the wire, and the number of values', async () => {
    const padded = (length: number) => consumption(1).replace('"body"', `"padding":"${'x'.repeat(length)}","body"`)
    expect(await post(aesEncrypted(KEY, padded(780_000)))).toEqual(SUCCESS)
    expect(await post(aesEncrypted(KEY, padded(800_000)))).toMatchObject({ describe: 'HTTP body: larger than 1 MiB' })
    const values = consumption(1).replace('"body"', `"many":[${'1,'.repeat(50_000)}1],"body"`)
    expect(await post(aesEncrypted(KEY, values))).toMatchObject({ code: 300, describe: UNFIT })
    expect(world.app.bodyMemory.held).toBe(0)
  })

  it('leaves no key in the log, the records or the answers', async () => {
    await clearRejected()
    const leaking = consumption(1).replace('"body"', `"remark":"${KEY}","body"`).replace('"quantity":3', '"quantity":9')
    expect(await post(aesEncrypted(KEY, leaking))).toMatchObject({ code: 300 })
    // A call of an earlier test may be stored only now, with the same time: the test clock stands still.
    const bodies = (await rows('select body from rejected_call')).map(({ body }) => body)
    expect(bodies).toContainEqual(expect.stringContaining('"remark":"[secret]"'))
    expect(bodies.join()).not.toContain(KEY)
    expect(world.logged()).not.toContain(KEY)
    expect((await findPartner(world.deps, 7001n))?.aes_key).toBe(KEY)
  })
})

describe('the signature tool', () => {
  const test = async (payload: string) => {
    const [url, date] = ['/mtp/api/order/test/ba', formatHttpDate(world.clock.now())]
    const headers = signedHeaders({ clientId: 'seller', partnerId: '7001', clientSecret: SECRET }, { path: url, date })
    return (await world.app.inject({ method: 'POST', url, headers: { ...headers }, payload })).json()
  }
  it('reads an encrypted body as it would that of a notice', async () => {
    expect(await test(aesEncrypted(KEY, '{"partnerId":7001}'))).toEqual(SUCCESS)
    expect(await test(aesEncrypted(KEY, '{"partnerId":1001}'))).toMatchObject({
      warnings: ['body-partner-id-mismatch'],
    })
    await removeAesKey(world.deps, 7001n)
    expect(await test(aesEncrypted(KEY, '{"partnerId":7001}'))).toMatchObject({ warnings: ['body-not-json'] })
  })
})

/** Runs last: it sends more refused calls than are stored. */
describe('a padding oracle', () => {
  it('is not offered: every body that fails to decrypt gets the same text, whatever was wrong with it', async () => {
    const right = Buffer.from(aesEncrypted(KEY, consumption(1)), 'base64')
    const descriptions = new Set<string>()
    for (let n = 0; n < 300; n++) {
      const tampered = Buffer.from(right)
      const at = n % tampered.length
      tampered[at] = (tampered[at] ?? 0) ^ (1 + (n % 255))
      if (n % 3 === 0) tampered.set(randomBytes(16), tampered.length - 32)
      descriptions.add((await post(tampered.toString('base64'))).describe)
    }
    for (const text of ['no JSON', '', '[1', '\u0000', '{"a":1,"a":1}', `${'['.repeat(40)}${']'.repeat(40)}`]) {
      descriptions.add((await post(aesEncrypted(KEY, text))).describe)
    }
    descriptions.add((await post(aesEncrypted(KEY, Buffer.from([0xff, 0xff])))).describe)
    descriptions.add((await post(aesEncrypted('another key, 16.', consumption(1)))).describe)
    // If the changed block held only a name or a value, the result is still JSON, but with invalid fields.
    const shapes = [...descriptions].filter((describe) => describe !== UNFIT && describe !== 'success')
    for (const describe of shapes)
      expect(describe).toMatch(/ is required$|does not belong|must be|does not exist|is not/)
    expect(descriptions).toContain(UNFIT)
    expect(JSON.stringify([...descriptions])).not.toMatch(
      /padding|decrypt error|bad decrypt|UTF-8|appears twice|nested/,
    )
  })
})
