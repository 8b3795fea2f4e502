import { int64 } from '../../../platform/lib/json/fields.ts'
import { parseLossless, placed, withField } from '../../../platform/lib/json/lossless.ts'
import type { LocalizedText } from '../../../platform/lib/localized-text.ts'
import { MAX_WRITTEN } from './wire.ts'

/** Why a text is not sent. `json` and `fields` say where and what. */
export type BodyProblem =
  | { readonly kind: 'json' | 'fields'; readonly detail: LocalizedText }
  | { readonly kind: 'not-an-object' | 'too-long' | 'sold-order' | 'unknown-order' }

export interface OwnBody {
  readonly text: string
  /** The order that it names, where it names one by a 64-bit id. */
  readonly orderId: bigint | undefined
}

interface Written {
  readonly text: string
  readonly value: object
}

/** The JSON object that somebody has written. */
export function readWritten(written: string): Written | BodyProblem {
  if (written.length > MAX_WRITTEN) return { kind: 'too-long' }
  // Browsers end the lines of a form with CR LF.
  const text = written.replaceAll('\r\n', '\n').trim()
  const parsed = parseLossless(Buffer.from(text))
  if ('problem' in parsed) return { kind: 'json', detail: placed(parsed) }
  const { value } = parsed
  return typeof value !== 'object' || value === null || Array.isArray(value)
    ? { kind: 'not-an-object' }
    : { text, value }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** The text as it goes out: as it was written if it names this partner, else with `partnerId` set to it. */
export function asWritten({ text, value }: Written, partnerId: bigint): OwnBody {
  const orderId = int64().safeParse(fieldOf(fieldOf(value, 'body'), 'orderId'))
  const own = String(fieldOf(value, 'partnerId')) === String(partnerId)
  return {
    text: own ? text : withField(text, 'partnerId', partnerId),
    orderId: orderId.success && orderId.data >= 0n ? orderId.data : undefined,
  }
}
