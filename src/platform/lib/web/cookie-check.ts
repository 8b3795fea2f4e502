import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DAY_S } from '../clock.ts'
import { ownCookie } from './own-cookie.ts'

/** The longest that browsers keep a cookie. */
const LIFETIME_S = 400 * DAY_S
const NAME = 'gatehouse_cookie_set'

/** A field of forms whose page has set the cookie. Programs that post without opening the page do not send it. */
const fromPage = z.object({ cookie_set: z.literal('1') })
const isFromPage = ({ body }: { readonly body: unknown }): boolean => fromPage.safeParse(body).success

/** Detects browsers that refuse our cookies: there a right password would only show the sign-in page again. */
interface CookieCheck {
  /** Sets a cookie along with a page for a person. If true, the page's form gets the hidden field `cookie_set`. */
  offer(request: FastifyRequest, reply: FastifyReply): boolean
  /** Whether such a form came back without any of our cookies: some in-app web views keep only one. */
  isRefused(request: FastifyRequest): boolean
}

export function cookieCheck(publicUrl: string): CookieCheck {
  const cookie = ownCookie(publicUrl, { name: NAME, maxAgeS: LIFETIME_S })
  const ours = cookie.name.replace(/cookie_set$/, '')
  return {
    offer: (request, reply) => {
      const toPerson = request.method === 'GET' || isFromPage(request)
      if (toPerson && cookie.read(request) === undefined) cookie.set(reply, '1')
      return toPerson
    },
    isRefused: ({ body, cookies }) =>
      isFromPage({ body }) && !Object.keys(cookies).some((name) => name.startsWith(ours)),
  }
}
