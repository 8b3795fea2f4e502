import { z } from 'zod'
import { idText, maybe, oneOf, yesOrNo } from '../lib/json/fields.ts'
import { listOf, type ShapeProblem } from '../lib/json/shape.ts'
import { readableCredential } from './people.ts'

/** 0 none, 1 one code per ticket, 2 one per order. */
export const voucherType = () => oneOf(0, 1, 2)

/** Entries without a documented format; they are kept as they are (additional.ts). */
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

/** A failure that brings codes says two things: it is not believed, so that no code is lost. */
export const codesOfFailure = (path: string, count: number, said: string): ShapeProblem => ({
  path,
  problem: `names ${count} codes, but ${said} reports a failure`,
})

/** The same once it is read. */
export interface IssuedTickets {
  readonly voucherType?: 0 | 1 | 2 | undefined
  readonly vouchers?: readonly string[] | undefined
  readonly voucherPics?: readonly string[] | undefined
  readonly credentialList?: readonly z.output<typeof readableCredential>[] | undefined
  readonly asyReturnVoucher?: boolean | undefined
  readonly voucherAdditionalList?: unknown
  readonly orderAdditionalList?: unknown
}
