import { readFileSync } from 'node:fs'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { ROOT } from '../../../platform/lib/root.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import type { ZippedFile } from '../../../platform/lib/zip.ts'
import { ENDPOINTS } from '../../../ticketing/mws-wire/index.ts'
import { fieldReference, type ReferenceSection } from '../docs/reference.ts'
import { docsTexts } from '../docs/texts.ts'

export function definitionsIn(locale: Locale, baseUrl: string) {
  const { notices, interfaces } = fieldReference(locale)
  return { notices, interfaces, titleOf: docsTexts(locale).title, t: translator(locale), baseUrl }
}
export type Definitions = ReturnType<typeof definitionsIn>

interface Collected extends Definitions {
  readonly seller: { readonly clientId: string; readonly partnerId: bigint } | null
}

/** Where sellers' programs often run during development. */
export const PARTNER_URL = 'http://localhost:8080'

const COLLECTION = 'Gatehouse'

/** The variables of a collection; the secret is never filled in. */
const variablesOf = ({ baseUrl, seller }: Collected): Readonly<Record<string, string>> => ({
  baseUrl,
  partnerUrl: PARTNER_URL,
  clientId: seller?.clientId ?? '',
  partnerId: String(seller?.partnerId ?? ''),
})
const SECRET_VARIABLE = 'clientSecret'

const scriptText = (name: 'postman-sign' | 'postman-test' | 'bruno-sign' | 'bruno-test'): string =>
  readFileSync(new URL(`views/sandbox/exports/${name}.txt`, ROOT), 'utf8').trimEnd()

/** Examples have PartnerId 7001 at the top level. */
const withPartnerId = (example: string): string =>
  example.replace(/"partnerId": 7001(?=,?\n)/, '"partnerId": {{partnerId}}')

/** Requests to the platform ({{baseUrl}}) and to the seller's own server ({{partnerUrl}}). */
function foldersOf({ notices, interfaces, titleOf, t }: Collected) {
  const requestTo = (to: 'baseUrl' | 'partnerUrl', name: string, path: string, example: string) =>
    ({ name, to, path, body: withPartnerId(example) }) as const
  const requests = (sections: readonly ReferenceSection[], to: 'baseUrl' | 'partnerUrl') =>
    sections.map(({ name, path, parts }) => requestTo(to, titleOf(name), path, parts[0]?.example ?? ''))
  const example = prettyLossless({ partnerId: 7001, body: {} })
  const test = requestTo('baseUrl', t('sandbox.exports.signature_test'), ENDPOINTS.signatureTest, example)
  return [
    { name: t('sandbox.docs.notices'), requests: [test, ...requests(notices, 'baseUrl')] },
    { name: t('sandbox.docs.interfaces'), requests: requests(interfaces, 'partnerUrl') },
  ]
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')

/** A block of Bruno's file format. */
const block = (name: string, text: string): string => `${name} {\n${indented(text)}\n}\n`

const pairs = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')

/** Without characters that file systems refuse, and without surrounding spaces, which some drop. */
const fileName = (name: string): string => name.replace(/[<>:"/\\|?*]/g, '-').trim()

/** The files of a Bruno collection that signs its requests itself. */
export function brunoFiles(collected: Collected): ZippedFile[] {
  const test = block('tests', scriptText('bruno-test'))
  const requests = foldersOf(collected).flatMap(({ name: folder, requests }) =>
    requests.map(({ name, to, path, body }, place) => ({
      path: `${COLLECTION}/${fileName(folder)}/${fileName(name)}.bru`,
      text: [
        block('meta', pairs({ name, type: 'http', seq: String(place + 1) })),
        block('post', pairs({ url: `{{${to}}}${path}`, body: 'json', auth: 'none' })),
        block('headers', pairs({ 'Content-Type': 'application/json; charset=utf-8' })),
        block('body:json', body),
        test,
      ].join('\n'),
    })),
  )
  const environment = `${block('vars', pairs(variablesOf(collected)))}vars:secret [\n  ${SECRET_VARIABLE}\n]\n`
  const about = { version: '1', name: COLLECTION, type: 'collection', ignore: [] }
  return [
    { path: `${COLLECTION}/bruno.json`, text: `${JSON.stringify(about, null, 2)}\n` },
    { path: `${COLLECTION}/collection.bru`, text: block('script:pre-request', scriptText('bruno-sign')) },
    { path: `${COLLECTION}/environments/Sandbox.bru`, text: environment },
    ...requests,
  ]
}

const CONTENT_TYPE = { key: 'Content-Type', value: 'application/json; charset=utf-8' }

const event = (listen: 'prerequest' | 'test', script: string) => ({
  listen,
  script: { type: 'text/javascript', exec: script.split('\n') },
})

/** A Postman 2.1 collection that signs its requests itself. */
export const postmanCollection = (collected: Collected): object => ({
  info: {
    name: COLLECTION,
    description: collected.t('sandbox.exports.collection'),
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  },
  variable: Object.entries({ ...variablesOf(collected), [SECRET_VARIABLE]: '' }).map(([key, value]) => ({
    key,
    value,
  })),
  event: [event('prerequest', scriptText('postman-sign')), event('test', scriptText('postman-test'))],
  item: foldersOf(collected).map(({ name, requests }) => ({
    name,
    item: requests.map((request) => ({
      name: request.name,
      request: {
        method: 'POST',
        header: [CONTENT_TYPE],
        url: {
          raw: `{{${request.to}}}${request.path}`,
          host: [`{{${request.to}}}`],
          path: request.path.slice(1).split('/'),
        },
        body: { mode: 'raw', raw: request.body, options: { raw: { language: 'json' } } },
      },
    })),
  })),
})
