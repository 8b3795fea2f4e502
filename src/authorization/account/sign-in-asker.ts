import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'

/**
 * Which app somebody signs in for, as the sign-in page shows it. The name comes with the address, signed together with where
 * the browser goes on: nobody can make a link to our sign-in page that names an app which did not ask.
 */

const purposeOf = (returnTo: string): string => `sign-in for\n${returnTo}`

/** The path and query of the sign-in page for an app that has asked, without what nobody has looked at; `more` is what else the page is told. */
export function signInFor(
  { keys, config }: { readonly keys: Keys; readonly config: { readonly PUBLIC_URL: string } },
  { name, stage }: { readonly name: string; readonly stage: string },
  returnTo: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = localPath(returnTo, config.PUBLIC_URL)
  const app = stage === 'live' && { app: signedText(keys, purposeOf(path), name) }
  return `/sign-in?${new URLSearchParams({ return_to: path, ...app, ...more })}`
}

/** The app's name; undefined where the text is not ours, or was made for going on elsewhere. */
export const readAsker = (keys: Keys, text: string, returnTo: string): string | undefined =>
  openSignedText(keys, purposeOf(returnTo), text)?.text
