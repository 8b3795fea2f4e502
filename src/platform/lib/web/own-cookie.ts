import type {} from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface CookieSettings {
  /** On plain http; under https it gets the prefix `__Host-`. */
  readonly name: string
  /** Below which path it is sent on plain http; under https it is `/`, which `__Host-` demands. */
  readonly path?: string
  /** How long browsers keep it; otherwise until they are closed. */
  readonly maxAgeS?: number
}

export interface OwnCookie {
  readonly name: string
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, value: string): void
  clear(reply: FastifyReply): void
}

/**
 * HttpOnly and SameSite=Lax. Where browsers reach the service over https it is Secure too, and its name begins with
 * `__Host-`: a browser accepts such a cookie only from this host, so that another host of the same domain, or an
 * attacker on plain http, can neither set nor replace it. The name without the prefix is not read there: an attacker
 * could have set it.
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
