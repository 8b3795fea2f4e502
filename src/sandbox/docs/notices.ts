import type { z } from 'zod'
import { MOUNT, PATH } from '../../mtp/endpoints.ts'
import { consumeNotice, dealChangeNotice, refundNotice } from '../../mtp/wire.ts'
import type { NoticeName } from './anchor.ts'

/** The notices of B1: their paths without a prefix, and the schemas that they are read with. */
export const NOTICES: readonly { readonly name: NoticeName; readonly path: string; readonly shape: z.ZodType }[] = [
  { name: 'deal-change', path: MOUNT + PATH.dealChange, shape: dealChangeNotice },
  { name: 'consume', path: MOUNT + PATH.consume, shape: consumeNotice },
  { name: 'refund', path: MOUNT + PATH.refund, shape: refundNotice },
]
