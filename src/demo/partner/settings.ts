import type { FastifyBaseLogger } from 'fastify'

export interface Settings {
  /** What the platform's business contact has given to this seller. */
  readonly partnerId: string
  readonly clientId: string
  /** On the server only: never in a log, a page or an app. */
  readonly clientSecret: string
  /** The AES key for bodies, a separate secret; undefined: bodies are not encrypted. */
  readonly aesKey?: string | undefined
  /** Where notices go; may end in a path prefix, such as /rhone. */
  readonly platformUrl: string
  readonly log: FastifyBaseLogger
  /** The time; handed in so that tests can hold it still. */
  readonly now: () => Date
}
