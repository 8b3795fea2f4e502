import { readdirSync, readFileSync } from 'node:fs'
import { tablesOfPeople } from '../src/platform/db/migrate.ts'

/** The floors of src/ and their rooms. `process` and `demo` are above all floors, `lib`, `config` and `db` below all rooms. */
export const FLOORS = {
  platform: ['lib', 'config', 'db', 'throttle', 'audit', 'history', 'outbound'],
  authorization: [
    'upstream',
    'account',
    'registry',
    'app-events',
    'usage',
    'oauth',
    'oidc',
    'resource',
    'refusals',
    'teams',
    'people',
    'developer',
  ],
  ticketing: [
    'partners',
    'members',
    'partner-reach',
    'interfaces',
    'partner-calls',
    'catalogue',
    'orders',
    'mws-wire',
    'mws',
    'mtp',
  ],
  sandbox: ['checks', 'test-plan', 'reports', 'certification', 'portal'],
  operations: ['actions', 'operators', 'console', 'explain', 'jobs', 'metrics', 'reseal', 'cli'],
} as const satisfies Readonly<Record<string, readonly string[]>>
type Floor = keyof typeof FLOORS

/** The floors that each floor may import from, besides itself. */
export const STANDS_ON: Readonly<Record<Floor, readonly Floor[]>> = {
  platform: [],
  authorization: ['platform'],
  ticketing: ['platform'],
  sandbox: ['ticketing', 'platform'],
  operations: ['sandbox', 'ticketing', 'authorization', 'platform'],
}

export const floorOf = (room: string): Floor | undefined =>
  (Object.keys(FLOORS) as Floor[]).find((floor) => FLOORS[floor].some((name: string) => name === room))

/** `src/authorization/oauth/`, `src/demo/`. */
export const folderOf = (room: string): string =>
  ['src', floorOf(room), room, ''].filter((part) => part !== undefined).join('/')

/** The room of a file, or the misplaced folder that it is in; undefined for files directly in src/ or in a floor. */
export function roomOf(path: string): string | undefined {
  const [, first = '', second] = /^src\/([^/]+)\/(?:([^/]+)\/)?/.exec(path) ?? []
  return first in FLOORS ? second : first || undefined
}

/**
 * Which rooms each room may import. Below all rooms are, from the bottom, lib, config and db; above them are process/,
 * which wires everything up, and the files directly in src/.
 */
export const BELOW_ALL = ['lib', 'config', 'db']
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  history: [],
  throttle: [],
  upstream: ['outbound'],
  account: ['upstream', 'audit', 'throttle'],
  registry: ['audit', 'throttle'],
  partners: ['audit', 'throttle'],
  members: ['partners', 'audit', 'throttle'],
  'app-events': ['registry', 'outbound', 'audit'],
  oauth: ['account', 'registry', 'app-events', 'audit', 'throttle'],
  resource: ['oauth', 'account', 'registry', 'audit', 'throttle'],
  refusals: ['oauth', 'resource', 'account', 'registry', 'throttle'],
  teams: ['account', 'registry', 'app-events', 'outbound', 'audit', 'throttle'],
  people: ['oauth', 'account', 'registry', 'app-events', 'resource', 'refusals', 'teams', 'audit', 'throttle'],
  metrics: [],
  usage: [],
  explain: ['account', 'audit', 'mtp', 'mws', 'oauth', 'orders', 'partners', 'refusals', 'registry', 'throttle'],
  developer: [
    'oauth',
    'resource',
    'oidc',
    'account',
    'registry',
    'refusals',
    'teams',
    'people',
    'usage',
    'outbound',
    'throttle',
  ],
  outbound: [],
  oidc: ['oauth', 'resource', 'account', 'registry', 'outbound', 'upstream', 'audit', 'throttle'],
  interfaces: [],
  'partner-reach': ['partners', 'audit'],
  'partner-calls': ['interfaces', 'outbound', 'partner-reach', 'partners'],
  catalogue: ['partner-calls', 'interfaces', 'partners', 'audit', 'history'],
  orders: ['catalogue', 'partner-calls', 'interfaces', 'partners', 'audit', 'history'],
  'mws-wire': [],
  mws: ['mws-wire', 'audit', 'partners', 'throttle'],
  mtp: [
    'mws-wire',
    'mws',
    'orders',
    'catalogue',
    'partner-calls',
    'interfaces',
    'partners',
    'audit',
    'history',
    'throttle',
  ],
  reports: [],
  'test-plan': ['mws-wire', 'partner-calls', 'interfaces'],
  checks: ['catalogue', 'partner-calls', 'interfaces', 'partners'],
  certification: [
    'checks',
    'test-plan',
    'reports',
    'mws-wire',
    'mws',
    'mtp',
    'orders',
    'catalogue',
    'partner-calls',
    'interfaces',
    'partners',
    'audit',
    'history',
    'throttle',
  ],
  portal: [
    'certification',
    'checks',
    'test-plan',
    'reports',
    'mws-wire',
    'mws',
    'mtp',
    'orders',
    'catalogue',
    'partner-reach',
    'partner-calls',
    'interfaces',
    'outbound',
    'members',
    'partners',
    'audit',
    'history',
    'throttle',
  ],
  jobs: [
    'refusals',
    'usage',
    'teams',
    'people',
    'audit',
    'account',
    'app-events',
    'members',
    'oauth',
    'oidc',
    'resource',
    'partner-reach',
    'partner-calls',
    'catalogue',
    'orders',
    'mws',
    'mtp',
    'certification',
    'portal',
    'operators',
    'outbound',
    'metrics',
    'upstream',
  ],
  operators: ['audit', 'throttle'],
  actions: [
    'teams',
    'app-events',
    'catalogue',
    'audit',
    'explain',
    'jobs',
    'members',
    'mtp',
    'oauth',
    'oidc',
    'operators',
    'orders',
    'partner-calls',
    'partner-reach',
    'partners',
    'people',
    'registry',
    'portal',
  ],
  reseal: ['account', 'oauth', 'oidc', 'registry', 'partners', 'reports', 'operators', 'audit', 'throttle'],
  console: [
    'actions',
    'explain',
    'jobs',
    'metrics',
    'operators',
    'partner-calls',
    'partner-reach',
    'partners',
    'registry',
    'portal',
    'audit',
    'throttle',
  ],
  cli: [
    'actions',
    'explain',
    'operators',
    'reseal',
    'history',
    'throttle',
    'account',
    'resource',
    'partners',
    'partner-calls',
    'catalogue',
    'orders',
    'test-plan',
    'portal',
    'jobs',
  ],
  demo: [
    'account',
    'registry',
    'partners',
    'oauth',
    'resource',
    'partner-calls',
    'catalogue',
    'orders',
    'portal',
    'audit',
    'history',
  ],
  process: ['demo', 'jobs', 'metrics', 'certification', 'partner-reach', 'partners', 'throttle'],
}
/**
 * The room that owns each table or view: only files of that room may name it. A view over tables of several rooms belongs
 * to the room that reads it.
 */
export const OWNERS: Readonly<Record<string, string>> = {
  access_token: 'oauth',
  ended_access_token: 'oauth',
  authorization_code: 'oauth',
  used_code: 'oauth',
  consent_decision: 'oauth',
  refresh_token: 'oauth',
  remembered_consent: 'oauth',
  user_grant: 'oauth',
  client_assertion: 'oidc',
  pushed_request: 'oidc',
  signing_key: 'oidc',
  browser_session: 'account',
  sign_in: 'account',
  password_link: 'account',
  user_totp: 'account',
  recovery_code: 'account',
  passkey: 'account',
  contact_change: 'account',
  used_challenge: 'account',
  profile_picture: 'account',
  user_credential: 'account',
  user_profile: 'account',
  app_event: 'app-events',
  deletion_request: 'people',
  data_access: 'resource',
  developer: 'teams',
  team: 'teams',
  app_request: 'teams',
  team_app: 'teams',
  team_invitation: 'teams',
  team_member: 'teams',
  micro_app: 'registry',
  micro_app_secret: 'registry',
  former_report_key: 'reports',
  partner: 'partners',
  partner_contact: 'partners',
  partner_secret: 'partners',
  member_link: 'members',
  partner_member: 'members',
  notice: 'mtp',
  refused_notice: 'mtp',
  rejected_call: 'mws',
  signature_pass: 'mws',
  signature_test: 'mws',
  partner_call: 'partner-calls',
  price_removal: 'catalogue',
  product: 'catalogue',
  product_price: 'catalogue',
  pull_due: 'catalogue',
  order_additional: 'orders',
  order_credential: 'orders',
  refund: 'orders',
  partner_certificate: 'partner-reach',
  partner_circuit: 'partner-reach',
  ticket_order: 'orders',
  voucher: 'orders',
  sandbox_attempt: 'certification',
  sandbox_event: 'certification',
  sandbox_order: 'certification',
  sandbox_report: 'reports',
  sandbox_run: 'certification',
  sandbox_accepted: 'portal',
  sandbox_notification: 'portal',
  sandbox_outgoing: 'portal',
  sandbox_refused: 'portal',
  sandbox_signed_in: 'portal',
  sandbox_session: 'portal',
  sandbox_withdrawn_link: 'portal',
  audit_event: 'audit',
  audit_seal: 'audit',
  audit_unsealed: 'audit',
  record_change: 'history',
  first_operator_session: 'operators',
  operator: 'operators',
  operator_session: 'operators',
  operator_recovery_code: 'operators',
  operator_token: 'operators',
  failed_attempt: 'throttle',
  rate_count: 'throttle',
  worker_lease: 'jobs',
  refused_request: 'refusals',
  activity_hour: 'metrics',
  app_usage: 'usage',
  installation: 'db',
}

const FOLDER = new URL('../migrations/', import.meta.url).pathname

/** The tables and views that exist after all migrations. */
export function tablesOfMigrations(): string[] {
  const tables = new Set<string>()
  for (const file of readdirSync(FOLDER).sort()) {
    const statements = readFileSync(FOLDER + file, 'utf8').replace(/--.*$/gm, '')
    for (const [, verb, name = ''] of statements.matchAll(
      /\b(create|drop)\s+(?:unlogged\s+)?(?:table|view)\s+(?:if\s+(?:not\s+)?exists\s+)?(\w+)/g,
    )) {
      if (verb === 'create') tables.add(name)
      else tables.delete(name)
    }
  }
  return [...tables].sort()
}

const NAMED = new RegExp(`\\b(?:from|join|into|update|using|table|only)\\s+(${Object.keys(OWNERS).join('|')})\\b`, 'g')

/** The SQL of a file, whole statements and fragments: the text of each sql`…`, with its placeholders. */
const statementsIn = (source: string): string[] =>
  [...source.matchAll(/\bsql(?:\.\w+)?`([^`]*(?:`[^`]*`[^`]*)*?)`/g)].map(([, text = '']) => text)
const statementsOf = (source: string): string => statementsIn(source).join('\n')

/** Tables of people: each shard has its own, created by migrations marked for shards (src/platform/db/migrate.ts). */
export const SHARD_TABLES: readonly string[] = tablesOfPeople()
/** Tables that every node of a Citus cluster has. */
const EVERYWHERE = ['micro_app', 'micro_app_secret']
/** SQL fragments that look up a person or a grant. */
const OF_PEOPLE = /\b(?:userByKey|lockedUserByKey|grantByKey|grantRevocationJoins)\(/

/** One line for each table, such as `teams/store.ts joins team_member with tables of people`; `path` is below src/. */
export const joinedAcrossShards = (path: string, source: string): string[] =>
  statementsIn(source).flatMap((text) => {
    const tables = [...text.matchAll(NAMED)].map(([, table = '']) => table)
    if (!OF_PEOPLE.test(text) && !tables.some((table) => SHARD_TABLES.includes(table))) return []
    const others = tables.filter((table) => !SHARD_TABLES.includes(table) && !EVERYWHERE.includes(table))
    return [...new Set(others)].map((table) => `${path.replace('src/', '')} joins ${table} with tables of people`)
  })

/** One line for each table, such as `orders/order-store.ts names product, which catalogue owns`; `path` is below src/. */
export function foreignTables(path: string, source: string): string[] {
  const room = roomOf(path)
  const found = new Set([...statementsOf(source).matchAll(NAMED)].map(([, table = '']) => table))
  return [...found]
    .filter((table) => OWNERS[table] !== room)
    .map((table) => `${path.replace('src/', '')} names ${table}, which ${OWNERS[table]} owns`)
}
