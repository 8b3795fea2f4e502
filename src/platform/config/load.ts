import { whole } from './setting.ts'

/** How much one process handles at once; more is refused (src/platform/config/schema.ts has the others). */
export const loadSettings = {
  MAX_CONNECTIONS: whole(10, 1_000_000)
    .default(5_000)
    .describe('connections that one process keeps open; shortly before, those idle for longest are closed'),
  HEALTH_PORT: whole(1, 65_535)
    .optional()
    .describe(
      'port for `/healthz` and `/readyz` alone, on `HOST`: it answers in time however many callers wait at `PORT`',
    ),
  MAX_REQUESTS: whole(1, 100_000).default(500).describe('requests that one process handles at once, before 503'),
  SIGN_IN_QUEUE: whole(1, 10_000)
    .default(50)
    .describe('sign-ins that may wait in one process while two passwords are checked, before 503'),
  QUEUE_LENGTH: whole(1, 100_000)
    .default(1_000)
    .describe('requests of each kind and room that may wait for the database in one process, before 503'),
  QUEUE_WAIT_MS: whole(100, 60_000)
    .default(3_000)
    .describe('milliseconds that a request or sign-in may wait, also for a database that is away, before 503'),
  BODY_MEMORY_MB: whole(4, 4_096)
    .default(64)
    .describe(
      'memory for request bodies in one process, MiB, before 503; each partner, and all unknown callers together, may use a quarter',
    ),
  BODY_TIMEOUT_S: whole(1, 300).default(10).describe('seconds that the body of a signed call may take to arrive'),
}
