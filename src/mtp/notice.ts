import { createHash, randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import {
  applyConsumption,
  applyProductChange,
  applyRefundResult,
  type ReportedVoucher,
  TicketingRefusal,
} from '../ticketing/report.ts'
import { accepted } from './answer.ts'
import { bodyRejected } from './errors.ts'
import { joinInFlight } from './in-flight.ts'
import { pathAsSent } from './signature.ts'
import { claimNotice, firstAnswer, type NoticeRow } from './store.ts'
import {
  type ConsumeNotice,
  consumeNotice,
  type DealChangeNotice,
  dealChangeNotice,
  type RefundNotice,
  readNotice,
  refundNotice,
} from './wire.ts'

/** What one of the three endpoints does with a notice of the right shape. */
export interface Kind<Notice extends { partnerId?: string | undefined }> {
  readonly shape: z.ZodType<Notice>
  /** Seconds in which the same bytes again are taken for a retry. */
  readonly repeatWithinS: number
  readonly apply: (deps: Deps, partnerId: bigint, notice: Notice, noticeId: string) => Promise<void>
}

const DAY_S = 86_400

/**
 * Product changes are remembered for ten seconds only: a partner that changes a price twice a day sends the same bytes
 * twice, and the second time is news. Order notices are cumulative, so a day is safe for them, and their business
 * keys hold for ever.
 */
export const DEAL_CHANGE: Kind<DealChangeNotice> = {
  shape: dealChangeNotice,
  repeatWithinS: 10,
  apply: (deps, partnerId, { body }, id) => applyProductChange(deps, partnerId, body, { kind: 'notice', id }),
}

export const CONSUMPTION: Kind<ConsumeNotice> = {
  shape: consumeNotice,
  repeatWithinS: DAY_S,
  apply: (deps, partnerId, { body }, id) =>
    applyConsumption(deps, partnerId, { ...body, vouchers: vouchersOf(body) }, { kind: 'notice', id }),
}

export const REFUND_RESULT: Kind<RefundNotice> = {
  shape: refundNotice,
  repeatWithinS: DAY_S,
  apply: (deps, partnerId, { code, describe, body }, id) =>
    applyRefundResult(deps, partnerId, { ...body, code, describe }, { kind: 'notice', id }),
}

export interface ReceivedNotice {
  readonly caller: PartnerWithSecrets
  /** Request target as sent. */
  readonly url: string
  readonly bytes: Buffer
}

/**
 * Takes a signed notice: shape, then meaning. Receipt, effect and follow-up job commit together before the answer goes
 * out; the same notice again gets the first answer, and while the first is in flight, waits for it.
 */
export async function acceptNotice<Notice extends { partnerId?: string | undefined }>(
  deps: Deps,
  kind: Kind<Notice>,
  { caller, url, bytes }: ReceivedNotice,
): Promise<string> {
  const read = readNotice(kind.shape, bytes)
  if ('problem' in read) throw bodyRejected(read.problem)
  checkBodyPartnerId(caller, read.notice.partnerId)

  const row = {
    noticeId: randomUUID(),
    clientId: caller.client_id,
    path: pathAsSent(url),
    bodyHash: createHash('sha256').update(bytes).digest(),
    partnerId: caller.partner_id,
    body: bytes.toString('utf8'),
    answer: JSON.stringify(accepted(caller.partner_id)),
  }
  const key = [row.clientId, row.path, row.bodyHash.toString('hex')].join('\n')
  return joinInFlight(deps.db, key, () => takeEffect(deps, kind, read.notice, row))
}

function takeEffect<Notice extends { partnerId?: string | undefined }>(
  deps: Deps,
  kind: Kind<Notice>,
  notice: Notice,
  row: NoticeRow,
): Promise<string> {
  const now = deps.clock.now()
  return deps.db.tx(async (db) => {
    const first = await claimNotice(db, row, now, addSeconds(now, -kind.repeatWithinS))
    if (!first) return firstAnswer(db, row.clientId, row.path, row.bodyHash)
    await kind.apply({ ...deps, db }, row.partnerId, notice, row.noticeId).catch((error: unknown) => {
      throw error instanceof TicketingRefusal ? bodyRejected(error.describe) : error
    })
    return row.answer
  })
}

function checkBodyPartnerId(caller: PartnerWithSecrets, given: string | undefined): void {
  if (given !== undefined && BigInt(given) !== caller.partner_id) {
    throw bodyRejected('partnerId does not belong to the clientId of the signature')
  }
}

/** The voucher list under the names that ticketing uses. */
const vouchersOf = ({ voucherList }: ConsumeNotice['body']): ReportedVoucher[] | undefined =>
  voucherList?.map(({ voucher, voucherPics, voucherInvalidTime, quantity, status }) => ({
    voucher,
    quantity,
    status,
    picture: voucherPics,
    invalidAt: voucherInvalidTime,
  }))
