import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { isWithin } from '../../platform/lib/clock.ts'
import { findOrigins } from '../registry/index.ts'

const READ_EVERY_S = 10
/** For an unknown origin, which may have just been registered; nobody can cause more reads than this. */
const READ_FOR_UNKNOWN_S = 1
const PREFLIGHT_S = '600'
const EXPOSED = { 'Access-Control-Expose-Headers': 'WWW-Authenticate' }

/** Caches the registered origins of all apps. */
export class RegisteredOrigins {
  readonly #deps: Deps
  #origins: ReadonlySet<string> = new Set()
  #readAt: Date | undefined
  #reading: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async has(origin: string): Promise<boolean> {
    await this.#readIfOlderThan(READ_EVERY_S)
    if (!this.#origins.has(origin)) await this.#readIfOlderThan(READ_FOR_UNKNOWN_S)
    return this.#origins.has(origin)
  }

  async #readIfOlderThan(seconds: number): Promise<void> {
    const now = this.#deps.clock.now()
    if (isWithin(this.#readAt, seconds, now)) return
    this.#reading ??= findOrigins(this.#deps.db)
      .then((origins) => {
        this.#origins = new Set(origins)
        this.#readAt = now
      })
      .finally(() => {
        this.#reading = undefined
      })
    await this.#reading
  }
}

/** Lets pages of registered origins call these routes, without cookies: another app's origin learns nothing from them. */
export function allowRegisteredOrigins(app: FastifyInstance, origins: RegisteredOrigins): void {
  // Not async: servers send no Origin and should not wait for a promise.
  app.addHook(
    'onRequest',
    ({ headers: { origin } }: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      reply.header('Vary', 'Origin')
      if (origin === undefined) return done()
      const allow = (known: boolean) => {
        if (known) reply.headers({ ...EXPOSED, 'Access-Control-Allow-Origin': origin })
        done()
      }
      origins.has(origin).then(allow, done)
    },
  )
}

/** Answers CORS preflight requests. */
export function answerPreflight(app: FastifyInstance, path: string, methods: string): void {
  app.options(path, (_request, reply) => {
    if (reply.getHeader('Access-Control-Allow-Origin') === undefined) return reply.code(403).send()
    return reply
      .code(204)
      .headers({
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': 'Authorization, Content-Type',
        'Access-Control-Max-Age': PREFLIGHT_S,
      })
      .send()
  })
}
