import type {} from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DAY_S } from '../clock.ts'

interface CookieSettings {
  readonly name: string
  readonly path?: string
  /** How long browsers keep it; by default until they are closed. */
  readonly maxAgeS?: number
}

/**
 * A cookie with HttpOnly and SameSite=Lax. Over https it is also Secure and named `__Host-…`, which requires the path
 * `/`: browsers accept such a cookie only from this host, so neither another host of the domain nor an attacker on plain
 * http can set or replace it. The name without prefix is not read there, since an attacker could have set that.
 */
export function ownCookie(publicUrl: string, { name: plain, path = '/', maxAgeS }: CookieSettings) {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? `__Host-${plain}` : plain
  const options = { path: secure ? '/' : path, httpOnly: true, sameSite: 'lax', secure } as const
  return {
    name,
    read: (request: FastifyRequest): string | undefined => request.cookies[name],
    set: (reply: FastifyReply, value: string): void => {
      reply.setCookie(name, value, maxAgeS === undefined ? options : { ...options, maxAge: maxAgeS })
    },
    clear: (reply: FastifyReply): void => {
      reply.clearCookie(name, options)
    },
  }
}
export type OwnCookie = ReturnType<typeof ownCookie>

/** The longest that browsers keep a cookie. */
const LIFETIME_S = 400 * DAY_S
const NAME = 'gatehouse_cookie_set'

/** A field of forms whose page has set the cookie. Programs that post without opening the page do not send it. */
const fromPage = z.object({ cookie_set: z.literal('1') })
const isFromPage = ({ body }: { readonly body: unknown }): boolean => fromPage.safeParse(body).success

/** Detects browsers that refuse our cookies: there a right password would only show the sign-in page again. */
export function cookieCheck(publicUrl: string) {
  const cookie = ownCookie(publicUrl, { name: NAME, maxAgeS: LIFETIME_S })
  const ours = cookie.name.replace(/cookie_set$/, '')
  return {
    /** Sets a cookie along with a page for a person. If true, the page's form gets the hidden field `cookie_set`. */
    offer: (request: FastifyRequest, reply: FastifyReply): boolean => {
      const toPerson = request.method === 'GET' || isFromPage(request)
      if (toPerson && cookie.read(request) === undefined) cookie.set(reply, '1')
      return toPerson
    },
    /** Whether such a form came back without any of our cookies: some in-app web views keep only one. */
    isRefused: ({ body, cookies }: FastifyRequest): boolean =>
      isFromPage({ body }) && !Object.keys(cookies).some((name) => name.startsWith(ours)),
  }
}
