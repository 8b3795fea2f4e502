import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { applyProductChange } from '../catalogue/index.ts'
import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import type { Cause } from '../history/index.ts'
import { sha256 } from '../lib/crypto/digest.ts'
import { pathAsSent } from '../lib/web/request-target.ts'
import { RefusedRequest } from '../lib/web/rescode.ts'
import { accepted, readNotice, WARNINGS } from '../mws/index.ts'
import { bodyRejected } from '../mws-wire/index.ts'
import { applyPayResult, applyRefundResult, codesIn } from '../orders/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { ORDER_NOTICE_REPEAT_S, takeConsumption } from './consumption.ts'
import { claimNotices, firstAnswers, type NoticeRow } from './store.ts'
import {
  type ConsumeNotice,
  consumeNotice,
  type DealChangeNotice,
  dealChangeNotice,
  type PayNotice,
  payNotice,
  type RefundNotice,
  type RescheduleNotice,
  refundNotice,
  rescheduleNotice,
} from './wire.ts'

/** What an endpoint does with a notice of the right shape. */
export interface Kind<Notice extends { partnerId?: string | undefined }> {
  readonly shape: z.ZodType<Notice>
  /** Commits receipt and effect together; returns the answer, which is the first one where the notice came before. */
  readonly take: (deps: Deps, notice: Notice, row: NoticeRow, received: ReceivedNotice) => Promise<string>
}

/**
 * Product changes are remembered for only ten seconds: a partner that changes a price twice a day sends the same bytes
 * twice, and the second notice is new.
 */
export const DEAL_CHANGE_REPEAT_S = 10

export const DEAL_CHANGE: Kind<DealChangeNotice> = {
  shape: dealChangeNotice,
  take: (deps, { body }, row) =>
    takeByItself(deps, row, DEAL_CHANGE_REPEAT_S, (inside, cause) =>
      applyProductChange(inside, row.partnerId, body, cause),
    ),
}

export const CONSUMPTION: Kind<ConsumeNotice> = {
  shape: consumeNotice,
  take: async ({ db }, { body }, row, { caller, warn }) => {
    const report = { ...body, vouchers: codesIn(body.voucherList, body.credentialList) }
    const { answer, warnings } = await takeConsumption(db, row, report, caller.stage)
    if (warnings.includes(WARNINGS.voucherListMissing.name)) {
      warn?.(WARNINGS.voucherListMissing.name, { orderId: String(body.orderId) })
    }
    return answer
  },
}

export const REFUND_RESULT: Kind<RefundNotice> = {
  shape: refundNotice,
  take: (deps, { code, describe, body }, row) =>
    takeByItself(deps, row, ORDER_NOTICE_REPEAT_S, (inside, cause) =>
      applyRefundResult(inside, row.partnerId, { ...body, code, describe }, cause),
    ),
}

const FAILED: readonly PayNotice['issueType'][] = [0, 2]

export const PAY_RESULT: Kind<PayNotice> = {
  shape: payNotice,
  take: (deps, { issueType, body, ...top }, row) => {
    const result = {
      orderId: body.orderId,
      partnerOrderId: body.partnerOrderId,
      outcome: FAILED.includes(issueType) ? 'failed' : 'issued',
      code: top.code ?? body.code,
      describe: top.describe ?? body.describe ?? '',
      tickets: body,
    } as const
    return takeByItself(deps, row, ORDER_NOTICE_REPEAT_S, (inside, cause) =>
      applyPayResult(inside, row.partnerId, result, cause),
    )
  },
}

/** Kept to be shown; its content cannot be read, so it has no effect. */
export const RESCHEDULE: Kind<RescheduleNotice> = {
  shape: rescheduleNotice,
  take: (deps, _notice, row) => takeByItself(deps, row, ORDER_NOTICE_REPEAT_S, async () => {}),
}

export interface ReceivedNotice {
  /** Its id becomes that of the notice; undefined of a replay. */
  readonly requestId?: string
  readonly caller: PartnerWithSecrets
  /** Request target as sent. */
  readonly url: string
  /** Readable: decrypted if it came encrypted. */
  readonly bytes: Buffer
  readonly decrypted: boolean
  /** Names of the warnings with which the call is accepted (src/mws/diagnose/warnings.ts). */
  readonly warnings: readonly string[]
  /** Called with the name of each warning about an accepted notice. */
  readonly warn?: (warning: string, about: object) => void
}

/**
 * Processes a signed notice: shape, then meaning. Receipt, effect and follow-up job are committed together before the
 * response is sent; a repeated notice gets the first response, and waits for it while the first is in progress.
 */
export async function acceptNotice<Notice extends { partnerId?: string | undefined }>(
  deps: Deps,
  kind: Kind<Notice>,
  received: ReceivedNotice,
): Promise<string> {
  const { caller, url, bytes, decrypted, warnings } = received
  const read = readNotice(kind.shape, bytes, decrypted)
  if ('problem' in read) throw bodyRejected(read.problem, read.problem + (read.where ?? ''))
  checkBodyPartnerId(caller, read.notice.partnerId)

  const row = {
    noticeId: received.requestId ?? randomUUID(),
    clientId: caller.client_id,
    path: pathAsSent(url),
    bodyHash: sha256(bytes),
    partnerId: caller.partner_id,
    receivedAt: deps.clock.now(),
    body: bytes.toString('utf8'),
    answer: JSON.stringify(accepted(caller.partner_id)),
    warnings: read.notice.partnerId === undefined ? [...warnings, WARNINGS.bodyPartnerIdMissing.name] : warnings,
  }
  const key = [row.clientId, row.path, row.bodyHash.toString('hex')].join('\n')
  return joinInFlight(deps.db, key, () => kind.take(deps, read.notice, row, received))
}

/**
 * In a transaction of its own: the notice is claimed, then it has its effect. Consumption notices are claimed last
 * (consumption.ts says why). `repeatWithinS`: seconds in which the same bytes again are taken for a retry.
 */
export function takeByItself(
  deps: Deps,
  row: NoticeRow,
  repeatWithinS: number,
  apply: (inside: Deps, cause: Cause) => Promise<void>,
): Promise<string> {
  return deps.db.tx(async (db) => {
    const claimed = await claimNotices(db, [row], repeatWithinS)
    if (claimed === 0) return (await firstAnswers(db, [row], repeatWithinS)).get(0) ?? noAnswer()
    await apply({ ...deps, db }, { kind: 'notice', id: row.noticeId }).catch((error: unknown) => {
      throw error instanceof RefusedRequest ? bodyRejected(error.describe) : error
    })
    return row.answer
  })
}

function noAnswer(): never {
  throw new Error('a notice that could not be claimed has been answered before')
}

/** Live partners may leave it out. */
function checkBodyPartnerId(caller: PartnerWithSecrets, given: string | undefined): void {
  if (given === undefined && caller.stage === 'sandbox') throw bodyRejected('partnerId is required')
  if (given !== undefined && BigInt(given) !== caller.partner_id) {
    throw bodyRejected('partnerId does not belong to the clientId of the signature')
  }
}

const inFlight = new WeakMap<Db, Map<string, Promise<string>>>()

/**
 * Does the work, or waits if this process is already doing the same work. Other processes wait in the database with one
 * connection each; without this, a slow notice that its partner keeps repeating would occupy all our connections.
 */
function joinInFlight(db: Db, key: string, work: () => Promise<string>): Promise<string> {
  const current = inFlight.get(db) ?? new Map<string, Promise<string>>()
  inFlight.set(db, current)
  const joined = current.get(key) ?? work().finally(() => current.delete(key))
  current.set(key, joined)
  return joined
}
