import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { compiledOf } from '../../platform/lib/compiled.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { REQUIRED } from '../../platform/lib/json/field-problem.ts'
import { jsonIn } from '../../platform/lib/json/lossless.ts'
import { problemText } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { applyLevelPrices, applyProductChange, type Entry } from '../catalogue/index.ts'
import { levelPriceCalendar } from '../interfaces/index.ts'
import { readNotice, type SignedCall, type Warning } from '../mws/index.ts'
import { bodyRejected, NOTICE_PATHS, type NoticeName, successEnvelope } from '../mws-wire/index.ts'
import { applyPayResult, applyRefundResult, codesIn } from '../orders/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { type AcceptedNotice, acceptOnce, CATALOGUE_REPEAT_S, type NoticeDeps, ORDER_REPEAT_S } from './accept-once.ts'
import { acceptConsumption } from './consumption.ts'
import { type NoticeRow, withWarning } from './store.ts'
import {
  consumeNotice,
  dealChangeNotice,
  leavesFieldsOut,
  levelPriceNotice,
  type PayNotice,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from './wire.ts'

type Accept<Notice> = (deps: Deps, notice: Notice, row: NoticeRow, incoming: IncomingNotice) => Promise<AcceptedNotice>

/** A notice, as data: its path below MOUNT and what it must be. */
export interface NoticeEndpoint {
  readonly name: NoticeName
  readonly path: string
  readonly shape: z.ZodType
  /** Processes a correctly signed notice; throws CallRejected. */
  readonly accept: (deps: NoticeDeps, incoming: IncomingNotice) => Promise<AcceptedNotice>
}

/**
 * Processes a signed notice: checks its shape, then its meaning. Receipt, effect and follow-up job are committed
 * together, before the response. A repeated notice gets the first response, if need be after waiting for it.
 */
const endpoint = <Notice extends { partnerId?: string | undefined }>(
  name: NoticeName,
  shape: z.ZodType<Notice>,
  accept: Accept<Notice>,
): NoticeEndpoint => ({
  name,
  path: NOTICE_PATHS[name],
  shape,
  accept: async (deps, incoming) => {
    const { caller, url, bytes, decrypted, warnings } = incoming
    const read = readNotice(compiledOf(shape), bytes, decrypted)
    if ('problem' in read) throw bodyRejected(read.reason ?? read.problem, read.problem)
    const { notice } = read
    checkBodyPartnerId(caller, notice.partnerId)
    const row: NoticeRow = {
      noticeId: incoming.requestId ?? randomUUID(),
      clientId: caller.client_id,
      path: pathAsSent(url),
      bodyHash: sha256(bytes),
      partnerId: caller.partner_id,
      receivedAt: deps.clock.now(),
      body: bytes.toString('utf8'),
      answer: JSON.stringify(successEnvelope(caller.partner_id)),
      warnings: notice.partnerId === undefined ? [...warnings, 'body-partner-id-missing'] : warnings,
    }
    const key = [row.clientId, row.path, row.bodyHash.toString('hex')].join('\n')
    return deps.notices.accept(key, () => accept(deps, notice, row, incoming))
  },
})

const FAILED: readonly PayNotice['issueType'][] = [0, 2]

export const NOTICE_ENDPOINTS: readonly NoticeEndpoint[] = [
  endpoint('deal-change', dealChangeNotice, (deps, { body }, row) =>
    acceptOnce(deps, row, CATALOGUE_REPEAT_S, (inside, cause) =>
      applyProductChange(inside, row.partnerId, body, { cause, notice: 'deal-change' }),
    ),
  ),

  endpoint('consume', consumeNotice, async ({ db }, { body }, row, { caller, warn }) => {
    const report = { ...body, vouchers: codesIn(body.voucherList, body.credentialList) }
    const { warnings, ...accepted } = await acceptConsumption(db, row, report, caller.stage)
    if (warnings.includes('voucher-list-missing')) warn?.('voucher-list-missing', { orderId: String(body.orderId) })
    return accepted
  }),

  endpoint('refund', refundNotice, (deps, { code, describe, body }, row) =>
    acceptOnce(deps, row, ORDER_REPEAT_S, (inside, cause) =>
      applyRefundResult(inside, row.partnerId, { ...body, code, describe }, cause),
    ),
  ),

  endpoint('pay', payNotice, async (deps, { issueType, body, ...top }, sent, { warn }) => {
    const result = {
      orderId: body.orderId,
      partnerOrderId: body.partnerOrderId,
      outcome: FAILED.includes(issueType) ? 'failed' : 'issued',
      issueType,
      code: top.code ?? body.code,
      describe: top.describe ?? body.describe ?? '',
      tickets: body,
    } as const
    const leftOut = leavesFieldsOut(jsonIn(sent.body))
    const row = leftOut ? withWarning(sent, 'fields-left-out') : sent
    const accepted = await acceptOnce(deps, row, ORDER_REPEAT_S, (inside, cause) =>
      applyPayResult(inside, row.partnerId, result, cause),
    )
    if (leftOut) warn?.('fields-left-out', { orderId: String(body.orderId) })
    return accepted
  }),

  // Only kept to be shown: its content cannot be read.
  endpoint('reschedule', rescheduleNotice, (deps, _notice, row) =>
    acceptOnce(deps, row, ORDER_REPEAT_S, async () => {}),
  ),

  endpoint('level-prices', levelPriceNotice, async (deps, notice, sent, { warn }) => {
    // As received, which is what a pull of the same calendar would store.
    const { body: entries } = jsonIn(sent.body) as { body: Entry[] }
    const isImplausible = (levelPriceCalendar.implausible?.(entries) ?? []).length > 0
    const row = isImplausible ? withWarning(sent, 'implausible-prices') : sent
    const accepted = await acceptOnce(deps, row, CATALOGUE_REPEAT_S, (inside, cause) =>
      applyLevelPrices(inside, row.partnerId, { ...notice, entries }, cause),
    )
    if (isImplausible) warn?.('implausible-prices', { partnerDealId: notice.partnerDealId })
    return accepted
  }),
]

interface IncomingNotice extends SignedCall {
  /** Becomes the id of the notice; undefined for a replay. */
  readonly requestId?: string
  /** Called with the name of each warning about an accepted notice. */
  readonly warn?: (warning: Warning, about: object) => void
}

/** Live partners may leave out the partnerId. */
function checkBodyPartnerId(caller: PartnerWithSecrets, given: string | undefined): void {
  if (given === undefined && caller.stage === 'sandbox')
    throw bodyRejected(problemText({ path: 'partnerId', problem: REQUIRED }))
  if (given !== undefined && BigInt(given) !== caller.partner_id) {
    throw bodyRejected(localized('body-of-another'))
  }
}
