import { parseLossless } from '../lib/lossless.ts'
import { echo } from '../lib/rescode.ts'
import { problemsText, type ShapeProblem } from '../lib/shape.ts'
import { failed, type Reply } from './call-result.ts'
import type { HttpAnswer } from './http-call.ts'
import { type PartnerInterface, SUCCESS } from './interfaces/interface.ts'
import { readAnswer } from './interfaces/read-answer.ts'

interface Reading {
  /** What a partner says is kept and logged: not even a secret that it repeats may come along. */
  readonly mask: (text: string) => string
  readonly orderId: bigint | undefined
}

/** What an HTTP answer says: status, then JSON, then the envelope's code, then the fields of the interface. */
export function readReply(entry: PartnerInterface, http: HttpAnswer, { mask, orderId }: Reading): Reply<unknown> {
  if (http.status !== 200) return failed({ kind: 'http-status', detail: statusText(http.status), maybe_received: true })
  const parsed = parseLossless(http.body)
  if ('problem' in parsed) {
    return failed({ kind: 'json', detail: `the answer is ${parsed.problem}`, maybe_received: true })
  }
  const json = parsed.value
  const reading = readAnswer(entry, json)
  switch (reading.outcome) {
    case 'misshapen':
      return misshapen(reading.problems, json)
    case 'pending':
      return { outcome: 'pending', code: reading.code, describe: echo(mask(reading.describe)) }
    case 'failed': {
      const detail = `${reading.code} (${reading.meaning}): ${echo(mask(reading.describe))}`
      return failed({ kind: 'partner-code', detail, maybe_received: true, code: reading.code }, json)
    }
    case 'success': {
      const stranger = aboutAnother(reading.answer, orderId)
      return stranger ? misshapen([stranger], json) : { outcome: 'success', answer: reading.answer, json }
    }
  }
}

const statusText = (status: number): string =>
  status >= 300 && status < 400 ? `HTTP status ${status}; redirects are not followed` : `HTTP status ${status}`

const misshapen = (problems: readonly ShapeProblem[], json: unknown): Reply<never> =>
  failed({ kind: 'schema', detail: problemsText(problems), maybe_received: true, problems }, json)

/** An answer that names another order than the one that was asked about must not decide about ours. */
function aboutAnother(answer: unknown, orderId: bigint | undefined): ShapeProblem | undefined {
  const body = (answer as { body?: { orderId?: unknown } }).body
  const named = body?.orderId
  if (orderId === undefined || typeof named !== 'bigint' || named === orderId) return undefined
  return { path: 'body.orderId', problem: `is ${named}; the call was about ${orderId}` }
}

/** The code that is recorded for a reply; null where the partner gave none. */
export function codeOf(reply: Reply<unknown>): number | null {
  if (reply.outcome === 'success') return SUCCESS
  return reply.outcome === 'pending' ? reply.code : (reply.failure.code ?? null)
}
