import { parseLossless, prettyLossless } from '../../lib/json/lossless.ts'

/**
 * Bodies of calls hold visitors' names, phone numbers, documents and tickets, in fields of ours and in whatever a partner
 * adds. So what a field holds is shown only where its name says that it is none of these.
 */
const SHOWN =
  /^(?:code|describe|message|partnerId|(?:order|refund|partnerOrder|partnerDeal|deal|product|poi|reschedule|ticket|serial)(?:Id|Ids|No)?|request_?id|.*(?:Status|State|Type|Date|Time|Price|Amount|Quantity|Count|Stock|Currency|Flag|Mode|Version)s?|currency|status|state|type|date|time|price|amount|quantity|stock|sign|total|page|pageSize|size)$/i

const HIDDEN = '***'

function masked(value: unknown, isShown: boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => masked(entry, isShown))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner, SHOWN.test(name))]))
  }
  return isShown || value === null || typeof value === 'boolean' ? value : HIDDEN
}

/** Indented JSON without personal data; undefined for text that is not JSON, which may hold anything. */
export function maskedBody(text: string): string | undefined {
  const read = parseLossless(Buffer.from(text))
  return 'value' in read ? prettyLossless(masked(read.value, false)) : undefined
}
