import { z } from 'zod'
import { dateTime, idText, maybe, oneOf } from '../lib/json/fields.ts'
import { smallInt } from '../lib/json/lossless.ts'

/** A voucher as the consumption notice and the order query tell it; status 0 unused, 1 used, 2 refunded, 3 void. */
export const voucherState = z.looseObject({
  voucher: idText(),
  voucherPics: maybe(idText()),
  voucherInvalidTime: dateTime(),
  quantity: smallInt(),
  status: oneOf(0, 1, 2, 3),
})
