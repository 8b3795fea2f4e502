import type { Config } from '../../platform/config/index.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { DEVICE_LIFETIME_S } from '../../platform/throttle/index.ts'

/** What the pages of signing in keep in the browser, besides the session. */

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
