import { readFileSync } from 'node:fs'
import { MOUNT } from '../../../platform/config/mounts.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { ROOT } from '../../../platform/lib/root.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { PATH } from '../../../ticketing/mws-wire/index.ts'
import type { ReferenceSection } from '../docs/reference.ts'

/** A request of a collection: to the platform below {{baseUrl}}, or to the seller's own server below {{partnerUrl}}. */
interface CollectionRequest {
  readonly name: string
  readonly to: 'baseUrl' | 'partnerUrl'
  readonly path: string
  /** With {{partnerId}} in it. */
  readonly body: string
}

export interface Folder {
  readonly name: string
  readonly requests: readonly CollectionRequest[]
}

/** What collections are made of. */
export interface Collected {
  readonly notices: readonly ReferenceSection[]
  readonly interfaces: readonly ReferenceSection[]
  readonly titleOf: (name: string) => string
  readonly t: Translate
  /** The platform's address. */
  readonly baseUrl: string
  /** The seller that it is for; undefined without a sign-in. */
  readonly seller?: { readonly clientId: string; readonly partnerId: bigint } | undefined
}

/** Where a seller's program often runs while it is written. */
export const PARTNER_URL = 'http://localhost:8080'

export const COLLECTION = 'Gatehouse'

/** The variables of a collection; the secret is never filled in. */
export const variablesOf = ({ baseUrl, seller }: Collected): Readonly<Record<string, string>> => ({
  baseUrl,
  partnerUrl: PARTNER_URL,
  clientId: seller?.clientId ?? '',
  partnerId: String(seller?.partnerId ?? ''),
})
export const SECRET_VARIABLE = 'clientSecret'

export const scriptText = (name: 'postman-sign' | 'postman-test' | 'bruno-sign' | 'bruno-test'): string =>
  readFileSync(new URL(`views/sandbox/exports/${name}.txt`, ROOT), 'utf8').trimEnd()

/** Each example names PartnerId 7001 at its top. */
const withPartnerId = (example: string): string =>
  example.replace(/"partnerId": 7001(?=,?\n)/, '"partnerId": {{partnerId}}')

export function foldersOf({ notices, interfaces, titleOf, t }: Collected): Folder[] {
  const requests = (sections: readonly ReferenceSection[], to: CollectionRequest['to']): CollectionRequest[] =>
    sections.map(({ name, path, parts }) => ({
      ...{ name: titleOf(name), to, path },
      body: withPartnerId(parts[0]?.example ?? ''),
    }))
  const test: CollectionRequest = {
    ...{ name: t('sandbox.exports.signature_test'), to: 'baseUrl', path: MOUNT + PATH.signatureTest },
    body: withPartnerId(prettyLossless({ partnerId: 7001, body: {} })),
  }
  return [
    { name: t('sandbox.docs.notices'), requests: [test, ...requests(notices, 'baseUrl')] },
    { name: t('sandbox.docs.interfaces'), requests: requests(interfaces, 'partnerUrl') },
  ]
}
