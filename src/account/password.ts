import { hash, verify } from '@node-rs/argon2'

// OWASP's parameters for argon2id (the library's default algorithm): 19 MiB, two passes, one lane.
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** Checked where the passport is unknown, so that this takes as long as for a known one. No password fits it. */
const DUMMY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA/XLmya2n6KKUAYJU'

export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS)

/** False also without a hash (the passport is unknown), after the same work. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const fits = await verify(passwordHash ?? DUMMY_HASH, password)
  return fits && passwordHash !== undefined
}
