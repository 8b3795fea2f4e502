import { idText, int64 } from '../../platform/lib/json/fields.ts'
import { isRounded } from '../../platform/lib/json/lossless.ts'
import { jsonFields } from './read-answer.ts'

/** Ids by which a call about one order says what it is about, and its answer too, where it repeats them. */
const ECHOED = { orderId: int64(), partnerOrderId: idText(), refundId: idText(), rescheduleNo: idText() } as const
type EchoedId = keyof typeof ECHOED
const NAMES = Object.keys(ECHOED) as EchoedId[]

/** An id that an answer repeats. */
export interface Echo {
  readonly name: EchoedId
  readonly path: string
  readonly asked: string
  readonly named: string
  /** As it came. */
  readonly given: unknown
  readonly same: boolean
  /** It is the id that was asked for, read as a double. */
  readonly rounded: boolean
}

/** The fields of an answer about one order: without a body they stand beside the code. */
export const fieldsOfAnswer = (json: unknown): Readonly<Record<string, unknown>> => {
  const { body } = jsonFields(json)
  return jsonFields(body ?? json)
}

const textOf = (name: EchoedId, value: unknown): string | undefined => {
  const read = ECHOED[name].safeParse(value)
  return read.success ? String(read.data) : undefined
}

/**
 * The ids that an answer repeats of the request, each with whether it is the one that was asked about. One that is left out, or
 * no id at all, says nothing; nor does 0 in an answer that is no success, where some programs send an empty record.
 */
export function echoesOf(request: unknown, answer: unknown, isSuccess: boolean): Echo[] {
  const [asked, given] = [jsonFields(jsonFields(request).body), fieldsOfAnswer(answer)]
  return NAMES.flatMap((name) => {
    const [wanted, named] = [textOf(name, asked[name]), textOf(name, given[name])]
    if (wanted === undefined || named === undefined || (!isSuccess && named === '0')) return []
    const rounded = name === 'orderId' && isRounded(given[name], BigInt(wanted))
    return [{ name, path: `body.${name}`, asked: wanted, named, given: given[name], same: named === wanted, rounded }]
  })
}
