import type { World } from '../harness.ts'
import type { FakeSeller } from '../partner-calls/fake-seller.ts'
import { type Signing, signatureOf } from '../signer.ts'

export interface SentNotice {
  readonly path: string
  readonly body: string
  readonly headers?: Record<string, string>
  /** Mistakes in the signature. */
  readonly signing?: Partial<Signing>
}

/** Sends a notice as the seller does, signed with its secret and the current Date. */
export async function sendNotice(
  world: World,
  seller: FakeSeller,
  { path, body, headers = {}, signing = {} }: SentNotice,
): Promise<{ code: number; describe: string }> {
  const date = world.clock.now().toUTCString()
  const signature = signatureOf({ path, date, secret: seller.secret, ...signing })
  const answer = await world.app.inject({
    method: 'POST',
    url: path,
    payload: body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: String(seller.partnerId),
      Date: date,
      Authorization: `MWS seller-${seller.partnerId}:${signature}`,
      ...headers,
    },
  })
  await world.deps.incoming.rejected.finish()
  return answer.json()
}

/** The body of a consumption notice; ids beyond 2^53 stay exact. */
export const consumption = ({ orderId, usedQuantity = 1 }: { orderId: bigint; usedQuantity?: number }): string =>
  `{"body":{"orderId":${orderId},"partnerOrderId":"P-1","quantity":2,"usedQuantity":${usedQuantity},"refundedQuantity":0}}`
