import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { beginsWith, listPage } from '../../platform/db/page.ts'
import { assignmentsOf, columnsOf, valuesOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { decryptSecret, encryptSecret, type Keys } from '../../platform/lib/crypto/keys.ts'
import {
  LAST_PARTNER_ID,
  type NewPartner,
  newPartner,
  type Partner,
  type PartnerChanges,
  type PartnerFilter,
  partner,
  partnerChanges,
  secretDates,
} from './wire.ts'

// Contacts are in another table.
const ownColumns = (shape: object): string[] => Object.keys(shape).filter((name) => name !== 'contacts')
const OWN_COLUMNS = columnsOf(ownColumns(partner.shape))
const COLUMNS = columnsOf(ownColumns(partner.shape), 'p')
const OF_NEW = [...ownColumns(newPartner.shape), 'status', 'created_at', 'updated_at']
const CHANGEABLE = [...Object.keys(partnerChanges.shape), 'status', 'stage']

const sealedSecret = secretDates.extend({ sealed: z.string().transform((hex) => Buffer.from(hex, 'hex')) })
type SealedSecret = z.output<typeof sealedSecret>
const partnerWithSealed = partner.extend({
  secrets: z.array(sealedSecret),
  /** Sealed; null without one. */
  aes_key: z.custom<Buffer<ArrayBuffer>>(Buffer.isBuffer).nullable(),
})
export type PartnerWithSealed = z.output<typeof partnerWithSealed>

interface WhichPartner {
  readonly partnerId?: bigint
  readonly clientId?: string
  readonly now: Date
}

const ASKED = (filter: WhichPartner) => sql.part`
  ${filter.partnerId}::bigint as partner_id, ${filter.clientId}::text as client_id, ${filter.now}::timestamptz as now`

const PEOPLE = sql.part`left join lateral (
      select jsonb_object_agg(role, jsonb_build_object('name', name, 'mail', mail, 'webhook_url', webhook_url)) as contacts
      from partner_contact
      where partner_id = p.partner_id
    ) people on true`

/** Secrets are newest first: the newer one has no end, and while neither has one, the older one signs. */
const partnersWithSealed: Batched<WhichPartner, PartnerWithSealed> = {
  row: partnerWithSealed,
  key: ({ partnerId, clientId }) => `${partnerId ?? ''} ${clientId ?? ''}`,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, ${COLUMNS}, p.aes_key,
       coalesce(live.secrets, '[]') as secrets, coalesce(people.contacts, '{}') as contacts
    from ${sql.rows('asked', asked, ASKED)}
    cross join lateral (
      select ${OWN_COLUMNS}, aes_key from partner
      where partner_id = asked.partner_id or client_id = asked.client_id offset 0
    ) p
    left join lateral (
      select jsonb_agg(jsonb_build_object('secret_id', secret_id, 'sealed', encode(sealed, 'hex'), 'signs', signs,
        'created_at', created_at, 'ends_at', ends_at, 'last_used_at', last_used_at)
        order by ends_at desc nulls first, signs) as secrets
      from partner_secret
      where partner_id = p.partner_id and (ends_at is null or ends_at > asked.now)
    ) live on true
    ${PEOPLE}`,
}

/** Whether a bigint column can hold it. */
const isPartnerId = (id: bigint): boolean => id > 0n && id <= LAST_PARTNER_ID

/** Batched, because every notice needs it: simultaneous requests share the query, and those of one partner the row. */
export const findPartner = async (db: Db, key: Pick<WhichPartner, 'partnerId' | 'clientId'>, now: Date) =>
  key.partnerId === undefined || isPartnerId(key.partnerId)
    ? (await db.batch(partnersWithSealed, { ...key, now }))[0]
    : undefined

const partnerUrls = partner.pick({ partner_id: true, name: true, base_url: true, interface_urls: true })

/** Names and URLs of those of these partners that exist, by id. */
export const partnersById = async ({ db }: Pick<Deps, 'db'>, ids: readonly bigint[]) => {
  const statement = sql`select partner_id, name, base_url, interface_urls from partner where partner_id = any(${ids}::bigint[])`
  return new Map((await db.many(partnerUrls, statement)).map((found) => [found.partner_id, found]))
}

/** Serializes creations, so that each sees all ids in use; reads do not wait. */
export const lockForCreation = (db: Db): Promise<number> => db.exec(sql`lock table partner in share row exclusive mode`)

export const findTaken = (db: Db, { partner_id, client_id }: Pick<NewPartner, 'partner_id' | 'client_id'>) =>
  db.one(
    z.object({ partner_id: z.boolean(), client_id: z.boolean() }),
    sql`select exists (select 1 from partner where partner_id = ${partner_id}) as partner_id,
      exists (select 1 from partner where client_id = ${client_id}) as client_id`,
  )

// Lower ids are given by hand: the demo's 7001, and those that partners already use.
const FIRST_ID = 10_001n

export const nextPartnerId = (db: Db): Promise<bigint> =>
  db.value(
    z.coerce.bigint(),
    sql`select min(id) as next
    from (
      select ${FIRST_ID}::bigint as id
      union all
      select partner_id + 1 from partner where partner_id >= ${FIRST_ID} and partner_id < ${LAST_PARTNER_ID}
    ) candidate
    where not exists (select 1 from partner where partner_id = id)`,
  )

export const insertPartner = (db: Db, input: NewPartner, now: Date): Promise<number> => {
  const row = { ...input, status: 'active', created_at: now, updated_at: now }
  return db.exec(sql`insert into partner (${columnsOf(OF_NEW)}) values (${valuesOf(row, OF_NEW)})`)
}

/** Sets the time of the change, and makes changes of one partner wait for each other. Returns the previous time. */
export const touchPartner = async (db: Db, partnerId: bigint, now: Date): Promise<Date | undefined> => {
  if (!isPartnerId(partnerId)) return undefined
  const statement = sql`update partner set updated_at = ${now}
    from (select partner_id, updated_at from partner where partner_id = ${partnerId} for no key update) before
    where partner.partner_id = before.partner_id returning before.updated_at`
  return (await db.maybe(partner.pick({ updated_at: true }), statement))?.updated_at
}

type Changes = PartnerChanges & Partial<Pick<Partner, 'status' | 'stage'>>

export const updatePartner = (db: Db, partnerId: bigint, changes: Changes): Promise<number> =>
  db.exec(sql`update partner set ${assignmentsOf(changes, CHANGEABLE)} where partner_id = ${partnerId}`)

/** Locks the partner until the caller's transaction ends; changes of it wait. Returns its stage. */
export const lockPartner = ({ db }: Pick<Deps, 'db'>, partnerId: bigint): Promise<Partner['stage']> =>
  db.value(partner.shape.stage, sql`select stage from partner where partner_id = ${partnerId} for no key update`)

/** Null removes the key, and calls are no longer encrypted. */
export const setAesKey = (db: Db, partnerId: bigint, sealed: Buffer | null, now: Date): Promise<number> =>
  db.exec(
    sql`update partner set aes_key = ${sealed}, aes_key_set_at = ${sealed && now},
      encrypts_calls = encrypts_calls and ${sealed !== null}
    where partner_id = ${partnerId}`,
  )

/** A live clientSecret of a partner, decrypted: it verifies the partner's calls and, if it `signs`, signs ours. */
export type PartnerSecret = Pick<SealedSecret, 'secret_id' | 'last_used_at' | 'signs'> & { readonly secret: string }

/** Binds a sealed secret to its row: moved to another partner's, it does not open. */
export const secretContext = (partnerId: bigint | string, secretId: string): string =>
  `partner_secret ${partnerId} ${secretId}`

export function sealSecret(keys: Keys, partnerId: bigint, secret: string): { secret_id: string; sealed: Buffer } {
  const secret_id = randomUUID()
  return { secret_id, sealed: encryptSecret(keys, secret, secretContext(partnerId, secret_id)) }
}

export const openSecret = (
  keys: Keys,
  partnerId: bigint,
  { secret_id, sealed, last_used_at, signs }: SealedSecret,
): PartnerSecret => ({
  secret_id,
  secret: decryptSecret(keys, sealed, secretContext(partnerId, secret_id)),
  last_used_at,
  signs,
})

export const aesKeyContext = (partnerId: bigint | string): string => `partner_aes_key ${partnerId}`

export const sealAesKey = (keys: Keys, partnerId: bigint, key: string): Buffer =>
  encryptSecret(keys, key, aesKeyContext(partnerId))

export const openAesKey = (keys: Keys, partnerId: bigint, sealed: Buffer): string =>
  decryptSecret(keys, sealed, aesKeyContext(partnerId))

/** Oldest first, with their contacts. */
export const listPartners = (db: Db, filter: PartnerFilter) => {
  const listing = {
    row: partner,
    columns: sql.part`${COLUMNS}, coalesce(people.contacts, '{}') as contacts`,
    from: sql.part`partner p
        ${PEOPLE}
        where (${filter.name}::text is null or lower(p.name) like lower(${beginsWith(filter.name)}))
          and (${filter.client_id}::text is null or p.client_id like ${beginsWith(filter.client_id)})
          and (${filter.stage}::text is null or p.stage = ${filter.stage})
          and (${filter.status}::text is null or p.status = ${filter.status})`,
    keys: { 'p.created_at': 'timestamptz', 'p.partner_id': 'int8' },
  }
  return listPage(db, listing, filter)
}

const demoPartner = z.object({ name: z.string(), status: z.string() })

/** The partners of the demo, which marks them when it creates them. */
export const DEMO_PARTNERS = {
  /** Whether there are any partners, of the demo or not. */
  hasRows: (db: Db): Promise<boolean> => db.value(z.boolean(), sql`select exists (select 1 from partner)`),
  mark: (db: Db, partnerId: bigint): Promise<number> =>
    db.exec(sql`update partner set demo = true where partner_id = ${partnerId}`),
  findActive: (db: Db): Promise<z.output<typeof demoPartner>[]> =>
    db.many(
      demoPartner,
      sql`select partner_id::text as name, status from partner where demo and status <> 'suspended' order by partner_id`,
    ),
  keys: (db: Db): Promise<bigint[]> => db.values(z.coerce.bigint(), sql`select partner_id from partner where demo`),
  /** Deletes them with all that is theirs, except `kept`: those can no longer call, be called or sign in. */
  remove: async (db: Db, kept: readonly bigint[], now: Date) => {
    const removed = await db.exec(sql`delete from partner where demo and partner_id <> all(${kept}::bigint[])`)
    const disabled = await db.exec(
      sql`update partner set status = 'suspended', base_url = null, interface_urls = '{}', updated_at = ${now}
          where demo and (status <> 'suspended'
            or exists (select 1 from partner_secret s where s.partner_id = partner.partner_id))`,
    )
    await db.exec(sql`delete from partner_contact where partner_id in (select partner_id from partner where demo)`)
    await db.exec(sql`delete from partner_secret where partner_id in (select partner_id from partner where demo)`)
    return { removed, disabled }
  },
}
