import type { z } from 'zod'
import { readOr } from '../read-or.ts'
import { hmacSha256 } from './digest.ts'
import { type DerivedKeys, decryptSecret, encryptSecret, equalSecrets, everyKey, type Keys } from './keys.ts'

/** State that a browser carries between our pages, so that none is stored here. Each text is valid for one purpose. */

const macOf = (keys: DerivedKeys, purpose: string, encoded: string): string =>
  hmacSha256(keys.form, `${purpose}\n${encoded}`).toString('base64url')

/** A text that anybody can read but only we can produce. */
export function signedText(keys: DerivedKeys, purpose: string, text: string): string {
  const encoded = Buffer.from(text).toString('base64url')
  return `${encoded}.${macOf(keys, purpose, encoded)}`
}

/** The text and the key that signed it; undefined if forged, altered, or made for another purpose. */
export function openSignedText(keys: Keys, purpose: string, carried: string) {
  const [encoded = '', mac = ''] = carried.split('.', 2)
  const key = everyKey(keys).find((one) => equalSecrets(mac, macOf(one, purpose, encoded)))
  return key && { text: Buffer.from(encoded, 'base64url').toString(), key }
}

export const sealedText = (keys: Keys, purpose: string, content: object): string =>
  encryptSecret(keys, JSON.stringify(content), purpose).toString('base64url')

/** Undefined if forged, altered, or made for another purpose. */
export const openSealedText = <Content>(keys: Keys, purpose: string, schema: z.ZodType<Content>, carried: string) =>
  readOr(
    (): Content => schema.parse(JSON.parse(decryptSecret(keys, Buffer.from(carried, 'base64url'), purpose))),
    undefined,
  )
