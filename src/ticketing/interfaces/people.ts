import { z } from 'zod'
import { idText, maybe, oneOf, text } from './fields.ts'

/** 0 id card, 1 passport, 2 officer card, 3 Taiwan compatriot permit, 4 HK/Macau pass, 5 mainland permit to Taiwan. */
const CREDENTIAL_TYPES = ['0', '1', '2', '3', '4', '5'] as const

/** A visitor or contact of an order; `credentials` are numbers by type of document. */
export const person = z.object({
  name: text().optional(),
  pinyin: text().optional(),
  mobile: text().optional(),
  address: text().optional(),
  postCode: text().optional(),
  email: text().optional(),
  gender: oneOf(1, 2).optional(),
  credentials: z.partialRecord(z.enum(CREDENTIAL_TYPES), text()).optional(),
})

/** A document and the voucher that it opens, of an order with real names. */
export const credential = z.looseObject({
  credentialType: oneOf(0, 1, 2, 3, 4, 5),
  credentialNo: idText(),
  voucher: maybe(idText()),
  status: maybe(oneOf(0, 1, 2, 3)),
})
