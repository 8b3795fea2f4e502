import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { ConcurrencyLimit } from '../concurrency-limit.ts'
import { normalPassword } from '../precis.ts'

/** OWASP's parameters for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
export const OWASP = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** Tests hash thousands of passwords, so they lower the cost (test/cheap-hashes.ts). */
export const hashing = { cost: OWASP }

/** A hash that no password matches: for accounts without one, and checked for unknown passports, to take equally long. */
export const NO_PASSWORD =
  '$argon2id$v=19$m=19456,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA/XLmya2n6KKUAYJU'

/** Hashes of this process at a time: a core is left for all other requests while people sign in. */
const hashes = pLimit(Math.max(1, availableParallelism() - 1))
const isOf = (known: string, password: string): Promise<boolean> => hashes(() => verify(known, password))

/** Hashes the normal form, since another system may encode what is typed differently. */
export const hashPassword = (password: string): Promise<string> =>
  hashes(() => hash(normalPassword(password), hashing.cost))

/**
 * False also without a hash (the passport is unknown), after the same work. Imported hashes are of the password as
 * typed, so that is tried too if it differs from the normal form; a wrong password then costs twice as much.
 */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const known = passwordHash ?? NO_PASSWORD
  const normal = normalPassword(password)
  const fits = (await isOf(known, normal)) || (normal !== password && (await isOf(known, password)))
  return fits && passwordHash !== undefined
}

type PasswordQueue = { readonly SIGN_IN_QUEUE: number; readonly QUEUE_WAIT_MS: number }

/**
 * Hashing a password occupies a core and one of Node's four worker threads, which file reads need too. So only two sign
 * in at a time, whoever they are, and a flood of guesses reaches the limits of failed attempts before it is hashed.
 */
export const passwordSlots = ({ SIGN_IN_QUEUE, QUEUE_WAIT_MS }: PasswordQueue): ConcurrencyLimit =>
  new ConcurrencyLimit({ name: 'sign-in', most: 2, length: SIGN_IN_QUEUE, waitMs: QUEUE_WAIT_MS })
