import type { z } from 'zod'
import { readOr } from '../read-or.ts'
import { hmacSha256 } from './digest.ts'
import { type DerivedKeys, decryptSecret, encryptSecret, equalSecrets, everyKey, type Keys } from './keys.ts'

/** What a browser carries from one page of ours to another, so that nothing of it is kept here. Each is made for one purpose. */

const macOf = (keys: DerivedKeys, purpose: string, encoded: string): string =>
  hmacSha256(keys.form, `${purpose}\n${encoded}`).toString('base64url')

/** A text that everybody can read and nobody else can make. */
export function signedText(keys: DerivedKeys, purpose: string, text: string): string {
  const encoded = Buffer.from(text).toString('base64url')
  return `${encoded}.${macOf(keys, purpose, encoded)}`
}

/** The text, and the key that has signed it; undefined for what is forged, altered, or made for something else. */
export function openSignedText(
  keys: Keys,
  purpose: string,
  carried: string,
): { readonly text: string; readonly key: DerivedKeys } | undefined {
  const [encoded = '', mac = ''] = carried.split('.', 2)
  const key = everyKey(keys).find((one) => equalSecrets(mac, macOf(one, purpose, encoded)))
  return key && { text: Buffer.from(encoded, 'base64url').toString(), key }
}

/** Content that nobody else can read either. */
export const sealedText = (keys: Keys, purpose: string, content: object): string =>
  encryptSecret(keys, JSON.stringify(content), purpose).toString('base64url')

/** Undefined for what is forged, altered, or made for something else. */
export const openSealedText = <Content>(keys: Keys, purpose: string, schema: z.ZodType<Content>, carried: string) =>
  readOr(
    (): Content => schema.parse(JSON.parse(decryptSecret(keys, Buffer.from(carried, 'base64url'), purpose))),
    undefined,
  )
