import { hashing } from '../src/platform/lib/crypto/password.ts'

/** A hash of OWASP's takes 10 ms of processor time, to make it and to check it. Tests of that cost set it back to OWASP. */
hashing.cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
