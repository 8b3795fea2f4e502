import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { addSeconds, epochSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, everyKey, type Keys } from '../../platform/lib/crypto/keys.ts'

/**
 * What a command on the service's machine sends instead of an operator's token. Whoever can make one has SECRET_KEY, so
 * it counts as an admin's. It is accepted only on this machine (guard.ts) and for half a minute. The MAC covers method,
 * address and body: a wrong listener that receives one can replay the request, but not send another. Nothing is stored;
 * every process with this SECRET_KEY, or with it in SECRET_KEYS_OLD, accepts it.
 */

const PREFIX = 'ghmc_'
const LIFETIME_S = 30
/** Setting the clock must not make a token last longer. */
const MAX_LIFETIME_S = 60

const claims = z.strictObject({
  user: z.string().regex(/^[^\p{Cc}]{1,256}$/u),
  expires_at: z.int(),
  body: z.string(),
})

interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
}

const macOf = ({ command }: DerivedKeys, { method, target }: SentRequest, payload: string): Buffer =>
  hmacSha256(command, `${method} ${target}\n${payload}`)

/** `user` is the system user, whom the audit log names. */
export function issueCommandToken(
  keys: DerivedKeys,
  { user, body, ...sent }: SentRequest & { readonly user: string; readonly body: string },
  now: Date,
): string {
  const expires_at = epochSeconds(addSeconds(now, LIFETIME_S))
  const claimed = { user, expires_at, body: sha256(body).toString('hex') } satisfies z.input<typeof claims>
  const payload = Buffer.from(JSON.stringify(claimed)).toString('base64url')
  return `${PREFIX}${payload}.${macOf(keys, sent, payload).toString('base64url')}`
}

/** The user and the hash of the body; undefined for anything that no command on this machine made for this request. */
export function readCommandToken(
  keys: Keys,
  bearer: string,
  sent: SentRequest,
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
  return lives > 0 && lives <= MAX_LIFETIME_S ? data : undefined
}
