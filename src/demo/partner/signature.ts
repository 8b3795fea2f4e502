import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** The complete signature, for both directions. Copy this file as it is. */
interface Signed {
  readonly method: string
  /** The path exactly as sent: with every prefix, without scheme, host and query. */
  readonly path: string
  /** The Date header exactly as sent. Make it once and use it twice: to sign and to send. */
  readonly date: string
}

/** One space, one line feed, nothing at the end. */
const stringToSign = ({ method, path, date }: Signed): string => `${method.toUpperCase()} ${path}\n${date}`

/** `MWS clientId:signature`; the signature is Base64 of the raw digest, not of its hex text. */
export function authorization(clientId: string, clientSecret: string, signed: Signed): string {
  const signature = createHmac('sha1', clientSecret).update(stringToSign(signed), 'utf8').digest('base64')
  return `MWS ${clientId}:${signature}`
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares in constant time. Never compare signatures with ===. */
const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/** A call as it arrived. */
export interface Call extends Signed {
  /** The whole Authorization header. */
  readonly authorization: string
}

interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** What may be wrong with a call. The response is always the same; only our own log has the reason. */
export type Problem = 'client' | 'date' | 'signature'

/** A recorded call must expire, but clocks never agree exactly. */
const CLOCK_DIFFERENCE_MS = 10 * 60 * 1000

/** Without the zone, Date.parse would read the time as local and be off by hours. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** Everything that is wrong with a call's signature; if the list is empty, the call is from the platform. */
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
