import { idText, int64 } from '../../platform/lib/json/fields.ts'
import { isRounded } from '../../platform/lib/json/lossless.ts'
import { fieldsOfAnswer, jsonFields } from './read-answer.ts'

/** Ids that say which order a call is about. An answer may repeat them. */
const ECHOED = { orderId: int64(), partnerOrderId: idText(), refundId: idText(), rescheduleNo: idText() } as const
type EchoedId = keyof typeof ECHOED
const NAMES = Object.keys(ECHOED) as EchoedId[]

/** An id that an answer repeats from its request. */
export interface Echo {
  readonly name: EchoedId
  readonly path: string
  readonly asked: string
  readonly named: string
  /** As received. */
  readonly given: unknown
  readonly same: boolean
  /** Whether it is the requested id, rounded to a double. */
  readonly rounded: boolean
}

const textOf = (name: EchoedId, value: unknown): string | undefined => {
  const read = ECHOED[name].safeParse(value)
  return read.success ? String(read.data) : undefined
}

/**
 * The ids that an answer repeats, each compared with that of the request. A missing or unreadable id is skipped, and so
 * is 0 in an answer that reports no success: some programs send an empty record there.
 */
export function echoesOf(request: unknown, answer: unknown, isSuccess: boolean): Echo[] {
  const [asked, given] = [jsonFields(jsonFields(request).body), fieldsOfAnswer(answer)]
  return NAMES.flatMap((name) => {
    const [sent, named] = [textOf(name, asked[name]), textOf(name, given[name])]
    if (sent === undefined || named === undefined || (!isSuccess && named === '0')) return []
    const rounded = name === 'orderId' && isRounded(given[name], BigInt(sent))
    return [{ name, path: `body.${name}`, asked: sent, named, given: given[name], same: named === sent, rounded }]
  })
}
