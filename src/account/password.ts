import { hash, verify } from '@node-rs/argon2'

// OWASP's parameters for argon2id (the library's default algorithm): 19 MiB, two passes, one lane.
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** A hash of nobody's password, checked for unknown passports so that they take as long as known ones. */
const NOBODY = '$argon2id$v=19$m=19456,t=2,p=1$HLtutxAG/JpSq6wxbj8oyQ$VneNEKkrNc0aCJHiTSe+LaqlerA/XLmya2n6KKUAYJU'

export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS)

/** False for an unknown passport (no hash) as well, after the same work. */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  const fits = await verify(passwordHash ?? NOBODY, password)
  return fits && passwordHash !== undefined
}
