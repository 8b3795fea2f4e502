import type { OutputOf } from '../lib/json/input.ts'
import { type listPartners, type showPartner, urlWarnings } from '../partners/index.ts'
import type { CliContext } from './context.ts'
import { aligned, printable, readable } from './text.ts'

type ShownPartner = OutputOf<typeof showPartner>

const pairs = (field: string, entries: Readonly<Record<string, string>>): string[][] =>
  Object.entries(entries).map(([name, value]) => [field, `${name} ${value}`])

function contactRows(contacts: ShownPartner['contacts']): string[][] {
  const lines = Object.entries(contacts).map(([role, { name, mail, webhook_url }]) => [
    role,
    `${name} <${mail}>${webhook_url ? `, webhook ${webhook_url}` : ''}`,
  ])
  return pairs('contact', Object.fromEntries(lines))
}

const secretRow = ({ signs, created_at, ends_at, last_used_at }: ShownPartner['secrets'][number]): string[] => {
  const dates = `since ${readable(created_at)}, ends ${readable(ends_at)}, last used ${readable(last_used_at)}`
  return ['secret', signs ? `${dates}, signs our calls` : dates]
}

/** A partner for a person to read: one line per field, URL, contact and live secret. */
export function details({ secrets, interface_urls, contacts, ...partner }: ShownPartner): string {
  return aligned([
    ...Object.entries(partner).map(([field, value]) => [field, readable(value)]),
    ...pairs('interface_url', interface_urls),
    ...contactRows(contacts),
    ...secrets.map(secretRow),
  ])
}

/** The same with the clientSecret of a creation or rotation. */
export function withSecret({ client_secret, ...partner }: ShownPartner & { client_secret: string }): string {
  const switching = `gatehouse partner switch-signing ${partner.partner_id}`
  const [newest] = partner.secrets
  return [
    details(partner),
    `client_secret  ${client_secret}`,
    'The secret is shown only once. Give it to the partner over a safe channel; keep it on servers only.',
    ...(newest?.signs ? [] : [`Our calls are signed with the old secret until: ${switching}`]),
  ].join('\n\n')
}

/** The same with the secret of a contact's webhook, where there is a new one. */
export function withWebhookSecret({ webhook_secret, ...partner }: ShownPartner & { webhook_secret?: string }): string {
  if (webhook_secret === undefined) return details(partner)
  const hint =
    'Calls to the webhook are signed with it (Standard Webhooks). It is shown only once; hand it over safely.'
  return [details(partner), `webhook_secret  ${webhook_secret}`, hint].join('\n\n')
}

/** The same with a key that was made. */
export function withAesKey({ aes_key, ...partner }: ShownPartner & { aes_key: string }): string {
  const hint = [
    'It is shown only once. Give it to the partner over a safe channel. As hex digits, for programs that need them:',
    Buffer.from(aes_key).toString('hex'),
    ...(partner.encrypts_calls
      ? []
      : [`Our calls are not encrypted until: gatehouse partner update ${partner.partner_id} --encrypt-calls`]),
  ]
  return [details(partner), `aes_key  ${aes_key}`, hint.join('\n')].join('\n\n')
}

export function table(partners: Readonly<OutputOf<typeof listPartners>['partners']>): string {
  if (partners.length === 0) return 'no partners yet'
  const rows = partners.map((partner) => [
    String(partner.partner_id),
    partner.client_id,
    partner.status,
    partner.stage,
    readable(partner.base_url),
    partner.name,
  ])
  return aligned([['PARTNER_ID', 'CLIENT_ID', 'STATUS', 'STAGE', 'BASE_URL', 'NAME'], ...rows])
}

/** Warns on standard error, so that what is printed stays as it is for programs. */
export function warned({ terminal }: CliContext, partner: ShownPartner): void {
  for (const { field, problem } of urlWarnings(partner))
    terminal.stderr.write(`warning: ${printable(`${field} ${problem}`)}\n`)
}
