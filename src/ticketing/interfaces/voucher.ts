import { z } from 'zod'
import { smallInt } from '../../lib/lossless.ts'
import { dateTime, idText, maybe, oneOf } from './fields.ts'

/** State of a voucher on the wire. */
export const VOUCHER_STATUS = { unused: 0, used: 1, refunded: 2, void: 3 } as const

/** A voucher as the consumption notice and the order query tell it. */
export const voucherState = z.looseObject({
  voucher: idText(),
  voucherPics: maybe(idText()),
  voucherInvalidTime: dateTime(),
  quantity: smallInt(),
  status: oneOf(0, 1, 2, 3),
})
