import { resetPassword, type UserKey, userKey } from '../../account/index.ts'
import { InvalidInput, parseInput } from '../../lib/json/input.ts'
import { JSON_TYPE } from '../../lib/web/envelope.ts'
import { countErasable, type Erasable, eraseUser, exportedUser, exportUser, type Receipt } from '../../people/index.ts'
import { accessFilter, listAccesses } from '../../resource/index.ts'
import type { Action, Fact, ListPage, PageContext } from '../page-model.ts'
import { at, code, count, link, text, time } from '../texts.ts'

/** One person: accesses, export, password link, erasure. */

/** An id may hold anything, a slash too, so it is in the query. */
export const pageOf = ({ cid, user_id }: UserKey, what = 'user'): string =>
  `${at('users', what)}?${new URLSearchParams({ cid: String(cid), user_id })}`

export const keyOf = ({ fields: { cid, user_id } }: PageContext): UserKey =>
  parseInput(userKey, { cid: Number(cid), user_id })

export const personOf = ({ cid, user_id }: UserKey): string => `${cid}/${user_id}`

const ONE = 'GET /users/:cid/:user_id'
const ACCESSES = `${ONE}/accesses`
const EXPORT = `${ONE}/export`
const RESET = 'POST /users/reset-password'
const ERASE = 'POST /users/erase'

export const personLinks = (key: UserKey, { t }: PageContext) => [
  { operation: ACCESSES, href: pageOf(key, 'accesses'), text: t('console.users.accesses') },
  { operation: RESET, href: pageOf(key, 'reset-password'), text: t('console.users.reset') },
  { operation: EXPORT, href: pageOf(key, 'export'), text: t('console.users.export') },
  { operation: ERASE, href: pageOf(key, 'erase'), text: t('console.users.erase') },
]

const ON_A_PAGE = 50

export const accesses: ListPage = {
  recordsLook: true,
  path: '/users/accesses',
  operation: ACCESSES,
  title: 'console.users.accesses',
  lead: 'console.users.accesses_lead',
  filters: () => [],
  read: async ({ deps, t, fields }) => {
    const found = await listAccesses(deps, parseInput(accessFilter, { limit: ON_A_PAGE, ...fields }))
    return {
      table: {
        head: [
          t('console.field.hour'),
          t('console.field.app'),
          t('console.field.what'),
          t('console.users.reads'),
          t('console.users.last_read'),
        ],
        rows: found.accesses.map(({ hour, app_key, kind, reads, last_at }) => [
          time(hour),
          link(app_key, at('apps', app_key)),
          text(kind === 'phone' ? t('console.field.phone') : t('console.users.profile')),
          text(count(reads)),
          time(last_at),
        ]),
        none: t('console.users.no_accesses'),
      },
      next: found.next,
    }
  },
  actions: (context) => [{ operation: ONE, href: pageOf(keyOf(context)), text: context.t('console.users.one') }],
}

const reset: Action = {
  path: '/users/reset-password',
  operation: RESET,
  title: 'console.users.reset',
  back: (context) => pageOf(keyOf(context)),
  confirm: async (context) => {
    const key = keyOf(context)
    return { says: [context.t('console.users.reset_says', { person: personOf(key) })], back: pageOf(key) }
  },
  run: async (context) => {
    const { t } = context
    const { url, expires_at } = await resetPassword(context.deps, keyOf(context))
    return {
      note: t('console.users.reset_note'),
      values: [
        { name: t('console.users.reset_link'), cells: [code(url)] },
        { name: t('console.users.reset_until'), cells: [time(expires_at)] },
      ],
    }
  },
}

const exportAll: Action = {
  path: '/users/export',
  operation: EXPORT,
  title: 'console.users.export',
  back: (context) => pageOf(keyOf(context)),
  confirm: async (context) => {
    const key = keyOf(context)
    return {
      says: [context.t('console.users.export_says', { person: personOf(key) })],
      fields: [{ name: 'reason', label: context.t('console.field.reason'), kind: 'text', required: true, most: 500 }],
      back: pageOf(key),
    }
  },
  run: async (context) => {
    const wanted = parseInput(exportedUser, { ...keyOf(context), reason: context.fields.reason })
    const parts = await exportUser(context.deps, wanted)
    return { name: 'person.json', type: JSON_TYPE, parts }
  },
}

/** Kinds of rows by their texts. */
const ROWS: Readonly<Record<string, string>> = {
  codes: 'console.erase.codes',
  used_codes: 'console.erase.used_codes',
  refresh_tokens: 'console.erase.refresh_tokens',
  access_tokens: 'console.erase.access_tokens',
  ended_access_tokens: 'console.erase.ended_access_tokens',
  consent_decisions: 'console.erase.consent_decisions',
  remembered_consents: 'console.erase.remembered_consents',
  grants: 'console.erase.grants',
  accesses: 'console.erase.accesses',
  refused_requests: 'console.erase.refused_requests',
  app_events: 'console.erase.app_events',
  deletion_requests: 'console.erase.deletion_requests',
  sign_ins: 'console.erase.sign_ins',
  sessions: 'console.erase.sessions',
  passkeys: 'console.erase.passkeys',
  recovery_codes: 'console.erase.recovery_codes',
  authenticators: 'console.erase.authenticators',
  password_links: 'console.erase.password_links',
  credentials: 'console.erase.credentials',
  profile: 'console.erase.profile',
}

const rowFacts = ({ rows }: Erasable, { t }: PageContext): Fact[] =>
  Object.entries(rows)
    .filter(([, rowCount]) => rowCount > 0)
    .map(([what, rowCount]) => ({
      name: ROWS[what] === undefined ? what : t(ROWS[what]),
      cells: [text(count(rowCount))],
    }))

/** What stays after an erasure, by its texts. */
const STAYS: Readonly<Record<Receipt['stays'][number]['what'], string>> = {
  'audit log': 'console.erase.stays_audit',
  orders: 'console.erase.stays_orders',
  'members of partners': 'console.erase.stays_members',
  'messages to apps': 'console.erase.stays_messages',
  'counts of failed sign-ins': 'console.erase.stays_counts',
  backups: 'console.erase.stays_backups',
}

const erase: Action = {
  path: '/users/erase',
  operation: ERASE,
  title: 'console.users.erase',
  back: () => at('users'),
  confirm: async (context) => {
    const { t, deps } = context
    const key = keyOf(context)
    return {
      says: [t('console.users.erase_says', { person: personOf(key) })],
      facts: rowFacts(await countErasable(deps, key), context),
      fields: [
        {
          ...{ name: 'typed', label: t('console.users.erase_type'), kind: 'text', required: true, most: 128 },
          hint: t('console.users.erase_hint', { user_id: key.user_id }),
        },
      ],
      back: pageOf(key),
    }
  },
  run: async (context) => {
    const { t, deps, fields } = context
    const key = keyOf(context)
    if (fields.typed !== key.user_id.trim())
      throw new InvalidInput([{ field: 'typed', problem: 'must be the user_id' }])
    const receipt = await eraseUser(deps, key)
    return {
      tone: 'good',
      note: t('console.users.erased', { person: personOf(key) }),
      values: [
        { name: t('console.erase.receipt'), cells: [code(receipt.receipt_id)] },
        { name: t('console.field.at'), cells: [time(receipt.erased_at)] },
        ...rowFacts(receipt, context),
        {
          name: t('console.erase.stays'),
          cells: receipt.stays.map(({ what, why }) =>
            STAYS[what] === undefined ? { text: `${what}: ${why}`, isEnglish: true } : text(t(STAYS[what])),
          ),
        },
      ],
    }
  },
}

export const personActions: readonly Action[] = [reset, exportAll, erase]
