import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { DEVICE_LIFETIME_S, rememberDevice } from '../../platform/throttle/index.ts'
import { sessionCookie } from './session.ts'
import { accountOf } from './sign-in.ts'
import type { SignInOrigin } from './wire.ts'

/** The path of the page that asks for a code. */
export const SECOND_STEP = '/sign-in/code'
/** The path of the page for a forgotten password; the cookie below is sent there. */
export const FORGOTTEN = '/sign-in/forgotten'

/** Marks the browser as one that has signed in before (src/platform/throttle/device.ts). */
export const deviceCookieOf = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_device', path: '/sign-in', maxAgeS: DEVICE_LIFETIME_S })

/** Whose password was right, until the second step is done; ends with the browser, which others may use too. */
export const secondStepCookie = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_second_step', path: '/sign-in' })

/** From where somebody signs in. */
export const originOf = ({ ip, headers }: FastifyRequest): SignInOrigin => ({
  address: ip,
  userAgent: headers['user-agent'],
})

/** The browser in which somebody signs in: what it brings along, and what it keeps then. */
export function signInBrowser(deps: Deps) {
  const session = sessionCookie(deps.config)
  const device = deviceCookieOf(deps.config)
  return {
    read: (request: FastifyRequest) => ({
      from: originOf(request),
      device: device.read(request),
      formerSession: session.read(request),
    }),
    keep(
      request: FastifyRequest,
      reply: FastifyReply,
      opened: { readonly session: string; readonly passport: string },
    ) {
      session.set(reply, opened.session)
      device.set(reply, rememberDevice(deps, accountOf(opened.passport), device.read(request)))
    },
  }
}
