import { authorization, type Signed, sameText } from './signature.ts'

/** A call as it arrived. */
export interface Call extends Signed {
  /** The whole Authorization header. */
  readonly authorization: string
}

interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** What may be wrong with a call. The caller gets the same response in every case; only our own log has the reason. */
export type Problem = 'client' | 'date' | 'signature'

/** A recorded call must not work for ever, and no two clocks agree exactly. */
const CLOCK_DIFFERENCE_MS = 10 * 60 * 1000

/** Without the zone, Date.parse would read the time as local and be off by hours. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** Everything that is wrong with the signature of a call; the call is the platform's when the list is empty. */
export function problemsOf(call: Call, { clientId, clientSecret }: Credentials, now: Date): Problem[] {
  const problems: Problem[] = []
  const caller = /^MWS (.*):/s.exec(call.authorization)?.[1]
  if (caller !== clientId) problems.push('client')
  const differenceMs = Math.abs(Date.parse(call.date) - now.getTime())
  if (!HTTP_DATE.test(call.date) || !(differenceMs <= CLOCK_DIFFERENCE_MS)) problems.push('date')
  const expected = authorization(caller ?? clientId, clientSecret, call)
  if (!sameText(call.authorization, expected)) problems.push('signature')
  return problems
}
