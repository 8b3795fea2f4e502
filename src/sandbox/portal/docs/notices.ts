import type { z } from 'zod'
import { MOUNT } from '../../../platform/config/mounts.ts'
import {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from '../../../ticketing/mtp/index.ts'
import { PATH } from '../../../ticketing/mws-wire/index.ts'
import type { NoticeName } from './anchor.ts'

/** The notices of partners: their paths without a prefix, and the schemas that they are read with. */
export const NOTICES: readonly { readonly name: NoticeName; readonly path: string; readonly shape: z.ZodType }[] = [
  { name: 'deal-change', path: MOUNT + PATH.dealChange, shape: dealChangeNotice },
  { name: 'consume', path: MOUNT + PATH.consume, shape: consumeNotice },
  { name: 'refund', path: MOUNT + PATH.refund, shape: refundNotice },
  { name: 'pay', path: MOUNT + PATH.pay, shape: payNotice },
  { name: 'reschedule', path: MOUNT + PATH.reschedule, shape: rescheduleNotice },
  { name: 'level-prices', path: MOUNT + PATH.levelPrices, shape: levelPriceNotice },
]
