import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { signInQuery } from './wire.ts'

/**
 * The app that the sign-in page shows ("to continue to …"). Its name is signed together with the return address, so
 * that nobody can craft a link to our page which names an app that did not send the person there.
 */

interface SigningDeps {
  readonly keys: Keys
  readonly config: { readonly PUBLIC_URL: string }
}

const purposeOf = (returnTo: string): string => `sign-in for\n${returnTo}`

/** Path and query of the sign-in page. Names the app only if it is live, so reviewed; `more` adds parameters. */
export function signInFor(
  { keys, config }: SigningDeps,
  { name, stage }: { readonly name: string; readonly stage: string },
  returnTo: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = localPath(returnTo, config.PUBLIC_URL)
  const app = stage === 'live' && { app: signedText(keys, purposeOf(path), name) }
  return `/sign-in?${new URLSearchParams({ return_to: path, ...app, ...more })}`
}

/** What the pages of a sign-in pass on: the return address, and the app if it is signed for that address. */
export function carriedOf({ keys, config }: SigningDeps, given: unknown) {
  const { return_to, app: signedApp = '' } = signInQuery.parse(given)
  const returnTo = localPath(return_to, config.PUBLIC_URL)
  const appName = readAppName(keys, signedApp, returnTo)
  const app = appName === undefined ? '' : signedApp
  const carried = new URLSearchParams({ return_to: returnTo, ...(app ? { app } : {}) })
  return { returnTo, app, appName, carried: String(carried) }
}

/** The app's name; undefined if the signature is invalid, or made for another return address. */
export const readAppName = (keys: Keys, text: string, returnTo: string): string | undefined =>
  openSignedText(keys, purposeOf(returnTo), text)?.text
