import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey, type Keys } from '../../platform/lib/crypto/keys.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'

/**
 * Which app somebody signs in for, as the sign-in page shows it. The name comes with the address, signed together with where
 * the browser goes on: nobody can make a link to our sign-in page that names an app which did not ask.
 */

const macOf = (keys: DerivedKeys, name: string, returnTo: string): string =>
  hmacSha256(keys.form, `sign-in for\n${returnTo}\n${name}`).toString('base64url')

/** The path and query of the sign-in page for an app that has asked, without what nobody has looked at; `more` is what else the page is told. */
export function signInFor(
  { keys, config }: { readonly keys: Keys; readonly config: { readonly PUBLIC_URL: string } },
  { name, stage }: { readonly name: string; readonly stage: string },
  returnTo: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = localPath(returnTo, config.PUBLIC_URL)
  const app = stage === 'live' && { app: `${Buffer.from(name).toString('base64url')}.${macOf(keys, name, path)}` }
  return `/sign-in?${new URLSearchParams({ return_to: path, ...app, ...more })}`
}

/** The app's name; undefined where the text is not ours, or was made for going on elsewhere. */
export function readAsker(keys: Keys, text: string, returnTo: string): string | undefined {
  const [encoded = '', mac = ''] = text.split('.', 2)
  const name = Buffer.from(encoded, 'base64url').toString()
  return everyKey(keys).some((key) => equalSecrets(mac, macOf(key, name, returnTo))) ? name : undefined
}
