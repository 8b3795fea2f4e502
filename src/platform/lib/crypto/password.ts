import { hash, verify } from '@node-rs/argon2'
import { ConcurrencyLimit } from '../concurrency-limit.ts'
import { normalPassword } from '../precis.ts'

/** Passwords of users, of partners' members and of operators: hashed in one way, and counted in one queue. */

/** OWASP's parameters for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
export const OWASP = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** Tests hash thousands of passwords, so for them a hash costs next to nothing (test/cheap-hashes.ts). */
export const hashing = { cost: OWASP }

/** No password fits it: for whoever has none, and checked where the passport is unknown, so that this takes as long. */
export const NO_PASSWORD =
  '$argon2id$v=19$m=19456,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA/XLmya2n6KKUAYJU'

/** In its normal form: it may be typed on another system the next time. */
export const hashPassword = (password: string): Promise<string> => hash(normalPassword(password), hashing.cost)

/**
 * False also without a hash (the passport is unknown), after the same work. Hashes of other systems are of what was
 * typed, so that is tried too where it differs: a wrong password costs twice as much then, and no more.
 */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const known = passwordHash ?? NO_PASSWORD
  const normal = normalPassword(password)
  const fits = (await verify(known, normal)) || (normal !== password && (await verify(known, password)))
  return fits && passwordHash !== undefined
}

interface PasswordQueue {
  readonly SIGN_IN_QUEUE: number
  readonly QUEUE_WAIT_MS: number
}

/**
 * Hashing a password occupies a processor core and one of Node's four worker threads, which file reads need too. Two are
 * hashed at a time, of users, partners' members and operators together, so a flood of guesses reaches the limits of failed
 * attempts before it is hashed. SIGN_IN_QUEUE more may wait; the rest is refused (Overloaded, 503). Made once a process.
 */
export const passwordSlots = ({ SIGN_IN_QUEUE, QUEUE_WAIT_MS }: PasswordQueue): ConcurrencyLimit =>
  new ConcurrencyLimit({ name: 'sign-in', most: 2, length: SIGN_IN_QUEUE, waitMs: QUEUE_WAIT_MS })
