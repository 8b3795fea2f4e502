import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { addSeconds, epochSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, everyKey, type Keys } from '../../platform/lib/crypto/keys.ts'

/**
 * What a command on the machine of the service sends in place of an operator's token. Whoever can make one has SECRET_KEY,
 * so it is an admin's. It is good on this machine (guard.ts), for half a minute: the MAC covers method, address and body, so
 * what a wrong listener receives makes no other request of it, but may be sent again meanwhile. Nothing is stored: every process with this
 * SECRET_KEY, or with it in SECRET_KEYS_OLD, accepts it.
 */

const PREFIX = 'ghmc_'
const LIFETIME_S = 30
/** A clock that is set meanwhile must not make one last. */
const MOST_S = 60

const claims = z.strictObject({
  user: z.string().regex(/^[^\p{Cc}]{1,256}$/u),
  expires_at: z.int(),
  body: z.string(),
})

/** A request as it goes over the wire. */
interface Sent {
  readonly method: string
  /** Path and query. */
  readonly target: string
}

const macOf = ({ command }: DerivedKeys, { method, target }: Sent, payload: string): Buffer =>
  hmacSha256(command, `${method} ${target}\n${payload}`)

/** `user`: the system's, whom the audit log names. */
export function issueCommandToken(
  keys: DerivedKeys,
  { user, body, ...sent }: Sent & { readonly user: string; readonly body: string },
  now: Date,
): string {
  const expires_at = epochSeconds(addSeconds(now, LIFETIME_S))
  const told = { user, expires_at, body: sha256(body).toString('hex') } satisfies z.input<typeof claims>
  const payload = Buffer.from(JSON.stringify(told)).toString('base64url')
  return `${PREFIX}${payload}.${macOf(keys, sent, payload).toString('base64url')}`
}

/** Who sends it and the hash of the body; undefined for anything that no command of this machine has made for this request. */
export function readCommandToken(
  keys: Keys,
  bearer: string,
  sent: Sent,
  now: Date,
): z.output<typeof claims> | undefined {
  if (!bearer.startsWith(PREFIX)) return undefined
  const [payload = '', mac = ''] = bearer.slice(PREFIX.length).split('.')
  const given = Buffer.from(mac, 'base64url')
  const isRight = everyKey(keys).some((key) => {
    const right = macOf(key, sent, payload)
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!isRight) return undefined
  const { data } = claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  const lives = (data?.expires_at ?? 0) - epochSeconds(now)
  return lives > 0 && lives <= MOST_S ? data : undefined
}
