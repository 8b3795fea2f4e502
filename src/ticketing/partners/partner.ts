import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret } from '../../platform/lib/crypto/generated-secret.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { InvalidInput, operation, type UnchangedSince, unchangedSince } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { isStorable } from '../../platform/lib/storable.ts'
import { maskedQuery } from '../../platform/lib/web/web-url.ts'
import { changePartner, requirePartner, shownPartner } from './change.ts'
import { storeContact } from './contact.ts'
import { insertSecret, touchSecret } from './secret-store.ts'
import * as store from './store.ts'
import { openAesKey, openSecret, type PartnerSecret, listPartners as partnersOf, sealSecret } from './store.ts'
import {
  CONTACT_ROLES,
  type ContactRole,
  type NewPartner,
  newPartner,
  type Partner,
  type PartnerChanges,
  partnerChanges,
  partnerFilter,
  type ShownPartner,
  type StageChange,
  stageChange,
} from './wire.ts'

/** A partner with its live secrets, the newer one first: at most two, of which exactly one signs our calls. */
export type PartnerWithSecrets = Partner & {
  secrets: PartnerSecret[]
  /** The key that encrypts bodies, as it was entered: 16 characters or 32 hex digits; null without one. */
  aes_key: string | null
}

/** Every secret of a partner, to be masked in whatever is stored or shown. */
export const secretTexts = ({ secrets, aes_key }: Pick<PartnerWithSecrets, 'secrets' | 'aes_key'>): string[] => [
  ...secrets.map(({ secret }) => secret),
  ...(aes_key === null ? [] : [aes_key]),
]

type WebhookSecrets = Partial<Record<ContactRole, string>>

export const newClientId = (): string => randomBytes(12).toString('hex')

/** Creates a partner with its first clientSecret, which is only shown now. Only demo data pass `secret`. */
export const createPartner = operation(
  newPartner,
  async (
    deps: Deps,
    input: NewPartner,
    secret: string = generateSecret('ghcs'),
  ): Promise<ShownPartner & { client_secret: string; webhook_secrets?: WebhookSecrets }> => {
    const now = deps.clock.now()
    return inTransaction(deps, async (inside, db) => {
      await store.lockForCreation(db)
      const taken = Object.entries(await store.findTaken(db, input)).filter(([, is]) => is)
      if (taken.length > 0)
        throw new InvalidInput(taken.map(([field]) => ({ field, problem: localized('already-taken') })))
      const partner_id = input.partner_id ?? (await store.nextPartnerId(db))
      const client_id = input.client_id ?? newClientId()
      await store.insertPartner(db, { ...input, partner_id, client_id }, now)
      const first = { ...sealSecret(deps.keys, partner_id, secret), signs: true, overlap_s: 0 }
      await insertSecret(db, partner_id, first, now)
      const webhook_secrets: WebhookSecrets = {}
      for (const role of CONTACT_ROLES) {
        const contact = input.contacts[role]
        const made = contact && (await storeContact(inside, partner_id, role, contact))
        if (made) webhook_secrets[role] = made
      }
      const detail = { client_id, secret_id: first.secret_id }
      await recordAudit(inside, { event: 'partner_created', partnerId: partner_id, detail })
      const created = shownPartner(await requirePartner(inside, partner_id))
      const some = Object.keys(webhook_secrets).length > 0
      return { ...created, client_secret: secret, ...(some ? { webhook_secrets } : {}) }
    })
  },
)

export const listPartners = operation(partnerFilter, (deps: Deps, filter) =>
  pageNamed('partners', partnersOf(deps.db, filter)),
)

/** The partner with the dates of its live secrets. Like all below, it throws 20007 (404) for an unknown PartnerId. */
export const showPartner = async (deps: Deps, partnerId: bigint): Promise<ShownPartner> =>
  shownPartner(await requirePartner(deps, partnerId))

export const updatePartner = operation(
  partnerChanges.extend(unchangedSince),
  (
    deps: Deps,
    partnerId: bigint,
    { unchanged_since, ...changes }: PartnerChanges & UnchangedSince,
  ): Promise<ShownPartner> => {
    const work = async (inside: Deps): Promise<object> => {
      const before = await requirePartner(inside, partnerId)
      if (changes.encrypts_calls && before.aes_key_set_at === null)
        throw new InvalidInput([{ field: 'encrypts_calls', problem: localized('needs-aes-key') }])
      await store.updatePartner(inside.db, partnerId, changes)
      const after = await requirePartner(inside, partnerId)
      const valuesOf = (partner: Partner) =>
        Object.fromEntries(Object.entries(withMaskedInterfaces(partner)).filter(([field]) => field in changes))
      return { before: valuesOf(before), after: valuesOf(after) }
    }
    return changePartner(deps, partnerId, 'partner_updated', work, unchanged_since)
  },
)

/** For viewers, and for the audit log, which they read. */
export const withMaskedInterfaces = <P extends Pick<Partner, 'interface_urls'>>(partner: P): P => ({
  ...partner,
  interface_urls: Object.fromEntries(
    Object.entries(partner.interface_urls).map(([name, url]) => [name, maskedQuery(url)]),
  ),
})

const changeStatus =
  (event: `partner_${string}`, status: Partner['status']) =>
  (deps: Deps, partnerId: bigint): Promise<ShownPartner> =>
    changePartner(deps, partnerId, event, async ({ db }) => {
      await store.updatePartner(db, partnerId, { status })
      return {}
    })

/** Refuses the partner's notices until it is active again. */
export const suspendPartner = changeStatus('partner_suspended', 'suspended')
export const activatePartner = changeStatus('partner_activated', 'active')

export const setStage = operation(
  stageChange,
  (deps: Deps, partnerId: bigint, { stage }: StageChange): Promise<ShownPartner> =>
    changePartner(deps, partnerId, 'partner_stage_set', async ({ db }) => {
      await store.updatePartner(db, partnerId, { stage })
      return { stage }
    }),
)

/** The partner, whatever its status; undefined for an unknown clientId, or text that cannot be one. */
export async function findPartnerByClientId(deps: Deps, clientId: string): Promise<PartnerWithSecrets | undefined> {
  if (!isStorable(clientId)) return undefined
  return opened(deps.keys, await store.findPartner(deps.db, { clientId }, deps.clock.now()))
}

export const findPartner = async (deps: Deps, partnerId: bigint): Promise<PartnerWithSecrets | undefined> =>
  opened(deps.keys, await store.findPartner(deps.db, { partnerId }, deps.clock.now()))

/** Cache: requests that share a row share its opened secrets; they go with the row, so none outlives a rotation. */
const openedRows = new WeakMap<store.PartnerWithSealed, PartnerWithSecrets>()

function opened(keys: Keys, found: store.PartnerWithSealed | undefined): PartnerWithSecrets | undefined {
  if (!found) return undefined
  const known = openedRows.get(found)
  if (known) return known
  const secrets = found.secrets.map((sealed) => openSecret(keys, found.partner_id, sealed))
  const aes_key = found.aes_key && openAesKey(keys, found.partner_id, found.aes_key)
  const partner = { ...found, secrets, aes_key }
  openedRows.set(found, partner)
  return partner
}

const NOTE_INTERVAL_S = 60

/** At most once a minute, so that a busy partner does not cause a write with each call. */
export async function notePartnerSecretUse(
  { db, clock }: Deps,
  { secret_id, last_used_at }: Pick<PartnerSecret, 'secret_id' | 'last_used_at'>,
): Promise<void> {
  const now = clock.now()
  const notAfter = addSeconds(now, -NOTE_INTERVAL_S)
  if (last_used_at && last_used_at > notAfter) return
  await touchSecret(db, secret_id, now, notAfter)
}

/** The one registered for the interface, else its default path below base_url; undefined without either. */
export const interfaceUrl = (
  { base_url, interface_urls }: Pick<Partner, 'base_url' | 'interface_urls'>,
  name: string,
  defaultPath: string,
): string | undefined =>
  interface_urls[name] ?? (base_url === null ? undefined : base_url.replace(/\/+$/, '') + defaultPath)
