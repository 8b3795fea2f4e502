import { z } from 'zod'
import { idText, maybe, oneOf, yesOrNo } from '../../platform/lib/json/fields.ts'
import { listOf, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { readableCredential } from './people.ts'
import { jsonFields } from './read-answer.ts'

/** 0 none, 1 one code per ticket, 2 one per order. */
export const voucherType = () => oneOf(0, 1, 2)

/** Entries without a documented format; they are kept as they are (issue-tickets.ts). */
export const additionalLists = {
  voucherAdditionalList: z.unknown().optional(),
  orderAdditionalList: z.unknown().optional(),
}

/**
 * The ticket fields that order pay and the pay notice share. asyReturnVoucher: the codes, or some of them, come later.
 */
export const issuedTickets = {
  vouchers: maybe(listOf('vouchers', idText())),
  voucherPics: maybe(listOf('vouchers', z.string())),
  realNameType: maybe(oneOf(0, 1)),
  credentialList: maybe(listOf('vouchers', readableCredential)),
  asyReturnVoucher: maybe(yesOrNo()),
  ...additionalLists,
}

/** 0 unused, 1 used: of a ticket that is refunded or void no code is lost. */
const VALID = [0, 1]

function codeOf(entry: unknown): string {
  const isEntry = typeof entry === 'object' && entry !== null
  const { voucher, status } = isEntry ? jsonFields(entry) : { voucher: entry, status: 0 }
  return VALID.includes(Number(status ?? 0)) ? String(voucher ?? '').trim() : ''
}

/**
 * A failure that brings codes says two things: it is not believed, so that no code is lost. `lists` are those of the body,
 * of codes or of entries that have one; undefined if there is no code in them.
 */
export function codesOfFailure(lists: Readonly<Record<string, unknown>>, said: string): ShapeProblem | undefined {
  for (const [name, list] of Object.entries(lists)) {
    const count = new Set((Array.isArray(list) ? list : []).map(codeOf).filter((code) => code !== '')).size
    if (count > 0) return { path: `body.${name}`, problem: localized('codes-of-failure', { count, what: said }) }
  }
  return undefined
}

/** Tickets as an answer or notice issued them, once it is read. */
export interface IssuedTickets {
  readonly voucherType?: 0 | 1 | 2 | undefined
  readonly vouchers?: readonly string[] | undefined
  readonly voucherPics?: readonly string[] | undefined
  readonly credentialList?: readonly z.output<typeof readableCredential>[] | undefined
  readonly asyReturnVoucher?: boolean | undefined
  readonly voucherAdditionalList?: unknown
  readonly orderAdditionalList?: unknown
}
