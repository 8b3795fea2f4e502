import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import type { UnchangedSince } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { maskedMail } from '../../platform/lib/web/admin-auth.ts'
import type { Problem } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost, withMaskedWebhook } from '../../platform/lib/web/web-url.ts'
import { noSuchPartner } from './change.ts'
import { rotateWebhookSecret, setContact } from './contact.ts'
import { changes, ofPartner, type PartnerRecord, secretActions } from './operator-secrets.ts'
import {
  activatePartner,
  createPartner,
  listPartners,
  newClientId,
  setStage,
  showPartner,
  suspendPartner,
  updatePartner,
  withMaskedInterfaces,
} from './partner.ts'
import type { TestCallWith } from './secret.ts'
import {
  CONTACT_ROLES,
  type ContactOfRole,
  type ContactRole,
  contactRole,
  type NewPartner,
  type OnePartner,
  onePartner,
  type Partner,
} from './wire.ts'

const PLAIN = localized('is-plain-http')

/** Warnings about a partner's URLs without TLS, unless they are on this machine. Such URLs are accepted. */
function urlWarnings({
  base_url,
  interface_urls,
  contacts,
}: Pick<Partner, 'base_url' | 'interface_urls' | 'contacts'>): Problem[] {
  const urls: [string, string | null | undefined][] = [
    ['base_url', base_url],
    ...Object.entries(interface_urls).map(([name, url]): [string, string] => [`interface_urls.${name}`, url]),
    ...Object.entries(contacts).map(([role, who]): [string, string | null] => [
      `contacts.${role}.webhook_url`,
      who?.webhook_url ?? null,
    ]),
  ]
  return urls.flatMap(([field, url]) => (url && isPlain(url) ? [{ field, problem: PLAIN }] : []))
}

const isPlain = (text: string): boolean => {
  const url = parsedUrl(text)
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname)
}

const warnings = { of: urlWarnings, log: 'partner URLs without TLS' } as const

/** Viewers see the addresses of contacts masked, like those of members, and queries of interfaces. */
function masked<P extends Pick<Partner, 'contacts' | 'interface_urls'>>(partner: P): P {
  const contacts = Object.entries(partner.contacts).map(([role, contact]) => [
    role,
    withMaskedWebhook({ ...contact, mail: maskedMail(contact.mail) }),
  ])
  return { ...withMaskedInterfaces(partner), contacts: Object.fromEntries(contacts) }
}

type ContactRecord = PartnerRecord & { readonly role?: ContactRole }

const contactIn = ({ contacts, role }: ContactRecord) => (role ? contacts?.[role] : undefined)

/** What operators do with partners. `testCallWith` makes the test call with a new secret. */
export const partnerActions = <Given extends Deps>(
  testCallWith: TestCallWith<Given>,
  breakerOf: (deps: Deps, partner: OnePartner) => Promise<object>,
) => [
  action({
    route: 'GET /partners',
    command: 'partner list',
    role: 'viewer',
    run: listPartners,
    masked: ({ partners, ...page }) => ({ partners: partners.map(masked), ...page }),
    list: {
      rows: 'partners',
      columns: ['partner_id', 'client_id', 'status', 'stage', 'base_url', 'name'],
    },
  }),
  action({
    noSuch: noSuchPartner,
    route: 'GET /partners/:partner_id',
    command: 'partner show',
    role: 'viewer',
    input: onePartner,
    run: ofPartner(showPartner),
    masked,
    beside: breakerOf,
    related: ({ partner_id, client_id }) => [
      { operation: 'GET /orders', text: 'console.orders.title', page: ['/orders', { partner_id }] },
      { operation: 'GET /traffic', text: 'console.traffic.title', page: ['/traffic', { partner_id }] },
      {
        operation: 'GET /traffic',
        text: 'console.traffic.failed',
        page: ['/traffic', { partner_id, outcome: 'failed' }],
      },
      { operation: 'GET /explain', text: 'console.explain.refused', page: ['/search', { q: client_id }] },
      { operation: 'GET /audit', text: 'console.field.history', page: ['/audit', { target: `partner:${partner_id}` }] },
    ],
  }),
  action({
    ...changes,
    route: 'POST /partners',
    command: 'partner create',
    input: createPartner.input,
    run: (deps: Deps, input: NewPartner) => createPartner(deps, input),
    suggested: () => ({ client_id: newClientId() }), // a form that is sent twice creates one partner
    once: ['client_secret'],
    onceWith: ['client_id'],
    warnings,
  }),
  action({
    ...changes,
    route: 'PATCH /partners/:partner_id',
    command: 'partner update',
    input: updatePartner.input.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...input }) => updatePartner(deps, partner_id, input),
    warnings,
  }),
  action({
    ...changes,
    route: 'PUT /partners/:partner_id/contacts/:role',
    each: { name: 'role', values: CONTACT_ROLES },
    command: 'partner contact',
    arguments: ['partner_id', 'role'],
    input: setContact.input.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...contact }: OnePartner & ContactOfRole & UnchangedSince) =>
      setContact(deps, partner_id, contact),
    once: ['webhook_secret'],
    warnings,
    present: (record: ContactRecord) => contactIn(record) ?? {},
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/contacts/:role/rotate-webhook-secret',
    each: { name: 'role', values: CONTACT_ROLES },
    command: 'partner rotate-webhook-secret',
    arguments: ['partner_id', 'role'],
    input: onePartner.extend({ role: contactRole }),
    run: (deps: Deps, { partner_id, role }: OnePartner & { role: ContactRole }) =>
      rotateWebhookSecret(deps, partner_id, role),
    once: ['webhook_secret'],
    offered: (record: ContactRecord) => typeof contactIn(record)?.webhook_url === 'string',
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/stage',
    command: 'partner stage',
    arguments: ['partner_id', 'stage'],
    input: setStage.input.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...change }) => setStage(deps, partner_id, change),
    decided: ({ stage }) => ({ stage: stage === 'live' ? 'sandbox' : 'live' }),
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/activate',
    command: 'partner activate',
    input: onePartner,
    run: ofPartner(activatePartner),
    offered: ({ status }) => status !== 'active',
  }),
  ...secretActions(testCallWith),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/suspend',
    command: 'partner suspend',
    dangerous: true,
    input: onePartner,
    run: ofPartner(suspendPartner),
    offered: ({ status }) => status === 'active',
  }),
]
