import type {} from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface CookieSettings {
  /** The name on plain http; under https it gets the prefix `__Host-`. */
  readonly name: string
  /** The path on plain http; under https it is `/`, which `__Host-` requires. */
  readonly path?: string
  /** How long browsers keep it; by default until they are closed. */
  readonly maxAgeS?: number
}

export interface OwnCookie {
  readonly name: string
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, value: string): void
  clear(reply: FastifyReply): void
}

/**
 * A cookie with HttpOnly and SameSite=Lax. Over https it is also Secure and named `__Host-…`: browsers accept such a
 * cookie only from this host, so neither another host of the domain nor an attacker on plain http can set or replace
 * it. The name without prefix is not read there, since an attacker could have set that.
 */
export function ownCookie(publicUrl: string, { name: plain, path = '/', maxAgeS }: CookieSettings): OwnCookie {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? `__Host-${plain}` : plain
  const options = { path: secure ? '/' : path, httpOnly: true, sameSite: 'lax', secure } as const
  return {
    name,
    read: (request) => request.cookies[name],
    set: (reply, value) => {
      reply.setCookie(name, value, maxAgeS === undefined ? options : { ...options, maxAge: maxAgeS })
    },
    clear: (reply) => {
      reply.clearCookie(name, options)
    },
  }
}
