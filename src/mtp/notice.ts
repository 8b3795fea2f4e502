import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Deps } from '../deps.ts'
import { sha256 } from '../lib/digest.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import {
  applyProductChange,
  applyRefundResult,
  type Cause,
  type ReportedVoucher,
  TicketingRefusal,
} from '../ticketing/report.ts'
import { accepted } from './answer.ts'
import { ORDER_NOTICE_REPEAT_S, takeConsumption } from './consumption.ts'
import { bodyRejected } from './errors.ts'
import { joinInFlight } from './in-flight.ts'
import { pathAsSent } from './signature.ts'
import { claimNotices, firstAnswer, type NoticeRow } from './store.ts'
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
  /** Commits receipt and effect together; returns the answer, which is the first one where the notice came before. */
  readonly take: (deps: Deps, notice: Notice, row: NoticeRow) => Promise<string>
}

/**
 * Product changes are remembered for ten seconds only: a partner that changes a price twice a day sends the same bytes
 * twice, and the second time is news.
 */
const DEAL_CHANGE_REPEAT_S = 10

export const DEAL_CHANGE: Kind<DealChangeNotice> = {
  shape: dealChangeNotice,
  take: (deps, { body }, row) =>
    takeByItself(deps, row, DEAL_CHANGE_REPEAT_S, (inside, cause) =>
      applyProductChange(inside, row.partnerId, body, cause),
    ),
}

export const CONSUMPTION: Kind<ConsumeNotice> = {
  shape: consumeNotice,
  take: ({ db }, { body }, row) => takeConsumption(db, row, { ...body, vouchers: vouchersOf(body) }),
}

export const REFUND_RESULT: Kind<RefundNotice> = {
  shape: refundNotice,
  take: (deps, { code, describe, body }, row) =>
    takeByItself(deps, row, ORDER_NOTICE_REPEAT_S, (inside, cause) =>
      applyRefundResult(inside, row.partnerId, { ...body, code, describe }, cause),
    ),
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
    bodyHash: sha256(bytes),
    partnerId: caller.partner_id,
    receivedAt: deps.clock.now(),
    body: bytes.toString('utf8'),
    answer: JSON.stringify(accepted(caller.partner_id)),
  }
  const key = [row.clientId, row.path, row.bodyHash.toString('hex')].join('\n')
  return joinInFlight(deps.db, key, () => kind.take(deps, read.notice, row))
}

/** In a transaction of its own. `repeatWithinS`: seconds in which the same bytes again are taken for a retry. */
function takeByItself(
  deps: Deps,
  row: NoticeRow,
  repeatWithinS: number,
  apply: (inside: Deps, cause: Cause) => Promise<void>,
): Promise<string> {
  return deps.db.tx(async (db) => {
    const claimed = await claimNotices(db, [row], repeatWithinS)
    if (claimed === 0) return firstAnswer(db, row)
    await apply({ ...deps, db }, { kind: 'notice', id: row.noticeId }).catch((error: unknown) => {
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
