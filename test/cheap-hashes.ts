import { hashing } from '../src/platform/lib/crypto/password.ts'

/** A hash with OWASP's cost takes 10 ms of processor time to create and to check. Tests of that cost set it back to OWASP's. */
hashing.cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
