import { z } from 'zod'
import { idText, maybe, oneOf, sentText, text } from '../../platform/lib/json/fields.ts'

/** 0 ID card, 1 passport, 2 officer ID, 3 Taiwan compatriot permit, 4 HK/Macau pass, 5 mainland permit to Taiwan. */
const CREDENTIAL_TYPES = ['0', '1', '2', '3', '4', '5'] as const

const credentials = z
  .strictObject(Object.fromEntries(CREDENTIAL_TYPES.map((type) => [type, text().optional()])))
  .meta({ wire: 'object' })

const gender = oneOf(1, 2).optional()
const TEXTS = ['name', 'pinyin', 'mobile', 'address', 'postCode', 'email'] as const
const texts = <Schema extends z.ZodType>(schema: Schema) =>
  Object.fromEntries(TEXTS.map((name) => [name, schema])) as Record<(typeof TEXTS)[number], Schema>

/** A visitor or contact of an order, as an operator enters it; `credentials` are document numbers by type. */
export const visitor = z.object({ ...texts(text().optional()), gender, credentials: credentials.optional() })

/** A person as sent to partners. Only an unknown gender is left out, because the field has no empty value. */
export const sentPerson = z.object({ ...texts(sentText()), gender, credentials: credentials.default({}) })

/** The types of `credentials` of a visitor. */
export const credentialType = () => oneOf(0, 1, 2, 3, 4, 5)

/** A document of a real-name order, and its voucher. */
export const credential = z.looseObject({
  credentialType: credentialType(),
  credentialNo: idText(),
  voucher: maybe(idText()),
  status: maybe(oneOf(0, 1, 2, 3)),
})

/** Undefined if invalid: only the code counts, and an invalid document must not lose the tickets. */
export const readableCredential = credential.optional().catch(undefined)
