import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { rotation, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import type { UnchangedSince } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { maskedMail } from '../../platform/lib/web/admin-auth.ts'
import type { Problem } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost, withMaskedWebhook } from '../../platform/lib/web/web-url.ts'
import { makeAesKey, removeAesKey, setAesKey } from './aes-key.ts'
import { noSuchPartner } from './change.ts'
import { rotateWebhookSecret, setContact } from './contact.ts'
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
import { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
import {
  CONTACT_ROLES,
  type ContactOfRole,
  type ContactRole,
  contactRole,
  type NewPartner,
  type OnePartner,
  onePartner,
  type Partner,
  type ShownPartner,
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

type PartnerRecord = Readonly<Partial<ShownPartner>>
type ContactRecord = PartnerRecord & { readonly role?: ContactRole }

const contactIn = ({ contacts, role }: ContactRecord) => (role ? contacts?.[role] : undefined)

const ofPartner =
  <Output>(run: (deps: Deps, partnerId: bigint) => Promise<Output>) =>
  (deps: Deps, { partner_id }: OnePartner): Promise<Output> =>
    run(deps, partner_id)

const changes = { role: 'editor', noSuch: noSuchPartner } as const

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
  action({
    ...changes,
    route: 'POST /partners/:partner_id/rotate-secret',
    command: 'partner rotate-secret',
    input: rotation.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...input }: OnePartner & SecretRotation) =>
      rotatePartnerSecret(deps, partner_id, input),
    once: ['client_secret'],
    onceWith: ['client_id'],
    next: ({ partner_id, secrets: [newest] }) =>
      newest?.signs
        ? undefined
        : `Our calls are signed with the old secret until: gatehouse partner switch-signing ${partner_id}`,
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/switch-signing',
    command: 'partner switch-signing',
    input: onePartner.extend({ untested: z.boolean().default(false) }),
    run: (deps: Given, { partner_id, untested }: OnePartner & { untested: boolean }) =>
      switchSigning(deps, partner_id, untested ? undefined : testCallWith(deps)),
    offered: ({ secrets }: PartnerRecord) => secrets?.some(({ signs, ends_at }) => !signs && ends_at === null) === true,
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/retire-secret',
    command: 'partner retire-secret',
    dangerous: true,
    input: onePartner,
    run: ofPartner(retireSecret),
    offered: ({ secrets }: PartnerRecord) => secrets?.some(({ ends_at }) => ends_at !== null) === true,
  }),
  action({
    ...changes,
    route: 'PUT /partners/:partner_id/aes-key',
    command: 'partner set-aes-key',
    input: setAesKey.input.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...key }) => setAesKey(deps, partner_id, key),
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/make-aes-key',
    command: 'partner make-aes-key',
    input: onePartner,
    run: (deps: Deps, { partner_id }: OnePartner) => makeAesKey(deps, partner_id),
    once: ['aes_key'],
    next: ({ partner_id, aes_key, encrypts_calls }) =>
      [
        `aes_key in hex: ${Buffer.from(aes_key).toString('hex')}`,
        ...(encrypts_calls
          ? []
          : [`Our calls are not encrypted until: gatehouse partner update ${partner_id} --encrypt-calls`]),
      ].join('\n'),
  }),
  action({
    ...changes,
    route: 'DELETE /partners/:partner_id/aes-key',
    command: 'partner remove-aes-key',
    dangerous: true,
    input: onePartner,
    run: ofPartner(removeAesKey),
    offered: ({ aes_key_set_at }) => aes_key_set_at !== null,
  }),
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
