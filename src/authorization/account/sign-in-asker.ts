import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { signInQuery } from './wire.ts'

/**
 * Which app somebody signs in for, as the sign-in page shows it. The name comes with the address, signed together with where
 * the browser goes on: nobody can make a link to our sign-in page that names an app which did not ask.
 */

interface Signing {
  readonly keys: Keys
  readonly config: { readonly PUBLIC_URL: string }
}

const purposeOf = (returnTo: string): string => `sign-in for\n${returnTo}`

/** The path and query of the sign-in page for an app that has asked, without what nobody has looked at; `more` is what else the page is told. */
export function signInFor(
  { keys, config }: Signing,
  { name, stage }: { readonly name: string; readonly stage: string },
  returnTo: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = localPath(returnTo, config.PUBLIC_URL)
  const app = stage === 'live' && { app: signedText(keys, purposeOf(path), name) }
  return `/sign-in?${new URLSearchParams({ return_to: path, ...app, ...more })}`
}

/**
 * What the pages of a sign-in carry from one to the next, read from a query or a form: where the browser goes on, and the
 * app that has asked, with its name. No app where the text is not ours, or was made for going on elsewhere.
 */
export function carriedOf({ keys, config }: Signing, given: unknown) {
  const { return_to, app: said = '' } = signInQuery.parse(given)
  const returnTo = localPath(return_to, config.PUBLIC_URL)
  const appName = readAsker(keys, said, returnTo)
  const app = appName === undefined ? '' : said
  const carried = new URLSearchParams({ return_to: returnTo, ...(app ? { app } : {}) })
  return { returnTo, app, appName, carried: String(carried) }
}

/** The app's name; undefined where the text is not ours, or was made for going on elsewhere. */
export const readAsker = (keys: Keys, text: string, returnTo: string): string | undefined =>
  openSignedText(keys, purposeOf(returnTo), text)?.text
