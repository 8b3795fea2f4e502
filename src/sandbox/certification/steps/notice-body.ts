import { isRounded, parseLossless } from '../../../platform/lib/json/lossless.ts'
import { type LocalizedText, localized } from '../../../platform/lib/localized-text.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'

const bodyOf = (text: string): unknown => {
  const parsed = parseLossless(Buffer.from(text))
  return 'value' in parsed ? jsonFields(parsed.value).body : undefined
}

/** A field of a notice's body as text, with every digit of a long id; undefined when it is not there. */
export function fieldIn(text: string, field: string): string | undefined {
  const value = jsonFields(bodyOf(text))[field]
  return value === undefined ? undefined : String(value)
}

/** The field's text in each entry of a body that is a list (or a single entry). */
export function fieldsIn(text: string, field: string): string[] {
  const body = bodyOf(text)
  const entries = Array.isArray(body) ? body : [body]
  return entries.flatMap((entry) => (jsonFields(entry)[field] === undefined ? [] : [String(jsonFields(entry)[field])]))
}

/** The entries of a list in a notice's body; none if it is not there. */
export function listIn(text: string, field: string): readonly unknown[] {
  const value = jsonFields(bodyOf(text))[field]
  return Array.isArray(value) ? value : []
}

/**
 * What a notice is about if it names another order: that of an attempt before, or one that is not known. An id that was
 * rounded on the way means this order; the notice has been refused, and the step fails with it.
 */
export function otherOrder(wanted: bigint, body: string): LocalizedText | undefined {
  const named = fieldIn(body, 'orderId')
  if (named === undefined || named === String(wanted) || isRounded(named, wanted)) return undefined
  return localized('other-order', { said: named, wanted: String(wanted) })
}
