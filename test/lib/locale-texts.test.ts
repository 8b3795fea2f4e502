import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { SignIn } from '../../src/authorization/account/session-store.ts'
import type { SignInMethod } from '../../src/authorization/account/sign-in.ts'
import { EVENT_TYPES } from '../../src/authorization/app-events/wire.ts'
import { openApi } from '../../src/authorization/developer/openapi.ts'
import { PROGRAMS } from '../../src/authorization/developer/quickstart.ts'
import { OAUTH_FAILURES } from '../../src/authorization/oauth/index.ts'
import { OIDC_FAILURES } from '../../src/authorization/oidc/index.ts'
import { ROWS_OF_PERSON } from '../../src/authorization/people/store.ts'
import { TEAM_FIELDS } from '../../src/authorization/registry/index.ts'
import { accessKind } from '../../src/authorization/resource/access-store.ts'
import { RESOURCE_FAILURES } from '../../src/authorization/resource/index.ts'
import { TEAM_REFUSALS } from '../../src/authorization/teams/errors.ts'
import { ACTIONS } from '../../src/demo/partner/control/actions.ts'
import { MISTAKE_GROUPS } from '../../src/demo/partner/mistakes/mistakes.ts'
import type { Product } from '../../src/demo/partner/product.ts'
import type { Order, Refund } from '../../src/demo/partner/shop.ts'
import { ALL_ACTIONS, fieldsOf } from '../../src/operations/actions/index.ts'
import { STATES } from '../../src/operations/console/texts.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { settings } from '../../src/platform/config/schema.ts'
import { ACTOR_KINDS } from '../../src/platform/deps.ts'
import type { FailureRow } from '../../src/platform/lib/failure.ts'
import { MEMBER_ROLES } from '../../src/platform/lib/member.ts'
import { SCOPES, STANDARD_SCOPES, scopeTextKey } from '../../src/platform/lib/scope.ts'
import { ROLES } from '../../src/platform/lib/web/admin-auth.ts'
import { keyOf, translator } from '../../src/platform/lib/web/locale.ts'
import { OUTCOMES } from '../../src/sandbox/certification/event.ts'
import { REFUSAL_REASONS } from '../../src/sandbox/certification/run-errors.ts'
import type { RunState } from '../../src/sandbox/certification/run-progress.ts'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import { CHECK_IDS } from '../../src/sandbox/checks/checks.ts'
import type { FieldKind } from '../../src/sandbox/portal/docs/field.ts'
import { type Direction, NOTICES } from '../../src/sandbox/portal/docs/notices.ts'
import type { NotReplayable } from '../../src/sandbox/portal/errors.ts'
import { SECRET_REFUSALS } from '../../src/sandbox/portal/members/secret.ts'
import type { Channel } from '../../src/sandbox/portal/notify/store.ts'
import { NUMBERS } from '../../src/sandbox/portal/pages/functions-form.ts'
import type { BodyProblem } from '../../src/sandbox/portal/play/body.ts'
import { EXPECTED_OUTCOMES, PLAY_ORDER_FIELDS, playActionParams, SIGNINGS } from '../../src/sandbox/portal/play/wire.ts'
import { refusalText } from '../../src/sandbox/portal/texts.ts'
import type { TrafficOutcome } from '../../src/sandbox/portal/traffic/outcome.ts'
import type { TrafficKind } from '../../src/sandbox/portal/traffic/store.ts'
import type { ReplayedOne } from '../../src/sandbox/portal/traffic/wire.ts'
import { FAULTS } from '../../src/sandbox/test-plan/conditions.ts'
import { FUNCTION_GROUPS, FUNCTION_IDS } from '../../src/sandbox/test-plan/functions.ts'
import { PRODUCT_ROLES } from '../../src/sandbox/test-plan/index.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { MEMBER_REFUSALS } from '../../src/ticketing/members/errors.ts'
import { LINK_PURPOSES } from '../../src/ticketing/members/wire.ts'
import { ORDER_STATES, REFUND_STATES, VOUCHER_STATES } from '../../src/ticketing/orders/states.ts'
import { CALL_CAUSES, FORGERIES } from '../../src/ticketing/partner-calls/index.ts'
import { CONTACT_ROLES } from '../../src/ticketing/partners/index.ts'

const views = new URL('../../views/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, views), 'utf8')
const texts = (locale: string): Record<string, string> => JSON.parse(read(`locales/${locale}.json`))
const en = texts('en')
const zh = texts('zh-CN')

const sources = readdirSync(views, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.eta'))
const code = readdirSync(new URL('../../src/', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8'))
  .join('\n')

/** Keys used by the OpenAPI document of area A: one per endpoint and per field. */
function ofOpenApi(): string[] {
  const keys = new Set<string>()
  const recordKey = (key: string): string => {
    keys.add(key)
    return key
  }
  openApi(readConfig({}), Object.assign(recordKey, { locale: 'en', has: () => true } as const))
  return [...keys]
}

/** Keys of an action: its own, and those of its command groups, fields and columns. */
const ofAction = (action: (typeof ALL_ACTIONS)[number]): string[] => [
  `action.${action.id}`,
  `action.${action.id}.about`,
  ...titlesOf(action),
  ...(action.elevated?.page
    ? [`action.${action.id}_more`, `action.${action.id}_more.about`, `action.${action.id}_more.once`]
    : []),
  ...['once', 'would'].map((what) => `action.${action.id}.${what}`).filter((key) => key in en),
  ...groupsOf(action.command ?? '').map((group) => `command.${group}`),
  ...[...fieldsOf(action), ...(action.list?.columns ?? [])].flatMap(({ name }) => keysOfField(action.id, name)),
  ...fieldsOf(action)
    .flatMap(({ name, off = name }) => [name, off])
    .flatMap((name) => [`action.${action.id}.${name}`].filter((key) => key in en)),
  ...fieldsOf(action).flatMap(({ name, choices }) =>
    choices
      .flatMap((choice) => [
        `field.${action.id.split('_', 1)[0]}.${name}.${choice}`,
        `field.${name}.${choice}`,
        `choice.${name}.${choice}`,
      ])
      .filter((key) => key in en),
  ),
  ...Object.entries(action.parts ?? {}).flatMap(([name, columns]) => [
    ...keysOfField(action.id, name).filter((key) => key in en), // some pages have a longer title instead
    ...columns.filter((column) => !column.onTerminalOnly).flatMap((column) => keysOfField(action.id, column.name)),
  ]),
]
/** The titles of an action that has a form for each of several values. */
const titlesOf = ({ id, each }: (typeof ALL_ACTIONS)[number]): string[] =>
  (each?.values ?? []).map((value) => `action.${id}.${value}`)
const groupsOf = (command: string): string[] => {
  const words = command.split(' ').slice(0, -1)
  return words.map((_, at) => words.slice(0, at + 1).join('_'))
}
/** The kinds of data that remain after an erasure (src/authorization/people/person-data.ts). */
const STAYS = [
  ...['audit_log', 'orders', 'members_of_partners', 'messages_to_apps', 'mail_that_tells_of_the_erasure'],
  ...['counts_of_failed_sign_ins', 'backups'],
]

/** Output fields that are shown on pages. Actions have no schema of their output, so they are listed here. */
const SHOWN = [
  ...['secrets', 'created_at', 'updated_at', 'ends_at', 'last_used_at', 'valid_from', 'grants', 'people', 'tokens'],
  ...[
    'intact',
    'unverifiable',
    'rows',
    'seals',
    'unsealed',
    'outside',
    'unproved_before',
    'purged',
    'other_key',
    'problems',
  ].map((name) => `audit.${name}`),
  ...[
    'has_password',
    'invitation_counts',
    'has_totp',
    'token',
    'expires_at',
    'totp_since',
    'recovery_codes',
    'passkeys',
    'sessions',
    'apps',
  ],
  ...['url', 'receipt_id', 'erased_at', 'stays', 'user.grants', ...ROWS_OF_PERSON.map(({ what }) => `rows.${what}`)],
  ...STAYS.map((what) => `stays.${what}`),
  // Of products and of pull reports.
  ...['details', 'expected', 'received', 'refused', 'pulled', 'problems', 'warnings', 'entry', 'path', 'problem'],
  ...['changed', 'removed', 'will_follow', 'detail', 'code'],
  // Of orders and refunds.
  ...['tickets_left', 'partial_refunds', 'state_since', 'last_code', 'last_describe', 'close_type', 'used_quantity'],
  ...['refunded_quantity', 'data_removed_at', 'contradiction', 'decision_code', 'voucher_additional'],
  ...['order_additional', 'additional_left_out', 'product.path', 'order.path'],
  // Of an app given to a team, and the team of an app.
  ...['webhook_removed', 'app_show.team_id'],
  // Of developers' requests.
  ...['decided_at', 'runs_on', 'reasons'],
  'deletion_requested_at',
  ...['key', 'max_attempts'], // of a job
  ...['contacts', 'contacts.key', 'interface_urls.key', 'interface_urls.value', 'signs', 'secret_id', 'aes_key_set_at'],
  // Of a partner with an open circuit breaker.
  ...['partner_show.opened_at', 'partner_show.retry_at'],
]

/** The most specific label of a field, and all its existing hints. */
function keysOfField(id: string, name: string): string[] {
  const owns = [`field.${id}.${name}`, `field.${id.split('_', 1)[0]}.${name}`]
  const label = owns.find((key) => key in en) ?? `field.${name}`
  return [
    label,
    ...[`field.${name}`, ...[...owns, `field.${name}`].map((key) => `${key}.hint`)].filter((key) => key in en),
  ]
}

/** All ids of a union type that has no list in the sources. A missing or surplus id does not compile. */
const idsOf = <Id extends string>(ids: Readonly<Record<Id, 1>>): string[] => Object.keys(ids)

const STEP_STATES = [...OUTCOMES, 'running', 'open']

/** Keys of the sandbox's playground, traffic and reference, and of the demo partner's back office (`keyOf`). */
const bySuffix: Readonly<Record<string, readonly string[]>> = {
  'sandbox.play.sign_': SIGNINGS,
  'sandbox.play.expect_': EXPECTED_OUTCOMES,
  'sandbox.play.action_': playActionParams.shape.action.options,
  'sandbox.play.problem_': [
    ...['price', ...PLAY_ORDER_FIELDS.filter((field) => !field.endsWith('_price'))],
    ...idsOf<BodyProblem['kind']>({
      ...{ json: 1, fields: 1, 'not-an-object': 1, 'too-long': 1, 'sold-order': 1, 'unknown-order': 1 },
    }),
  ],
  'console.sign_in_method.': idsOf<SignInMethod>({ password: 1, code: 1, 'recovery code': 1, passkey: 1, provider: 1 }),
  'console.read.': accessKind.options,
  'sandbox.traffic.kind_': [...idsOf<TrafficKind>({ call: 1, notice: 1, rejected: 1 }), 'unsigned', 'unverified'],
  'sandbox.traffic.': idsOf<TrafficOutcome['name']>({
    ...{ succeeded: 1, failed: 1, 'refused-rightly': 1, 'not-refused': 1, unverified: 1 },
  }),
  'sandbox.traffic.forged_': FORGERIES,
  'sandbox.traffic.cause_': CALL_CAUSES.filter((kind) => !['notice', 'operator', 'step'].includes(kind)),
  'sandbox.traffic.cause_operator_': ['command', 'console', 'api'],
  'sandbox.traffic.obstacle_': idsOf<NotReplayable['obstacle']>({
    ...{ changes: 1, 'not-a-notice': 1, 'not-verified': 1, 'not-whole': 1 },
  }),
  'sandbox.traffic.replayed_': idsOf<ReplayedOne['outcome']>({
    ...{ accepted: 1, again: 1, refused: 1, done: 1, failed: 1, impossible: 1, gone: 1, limited: 1 },
  }),
  'sandbox.docs.kind_': idsOf<Exclude<FieldKind, 'stock'>>({
    ...{ text: 1, id: 1, int: 1, int64: 1, digits: 1, price: 1, date: 1, datetime: 1, time: 1, boolean: 1 },
    ...{ object: 1, any: 1 },
  }),
  'sandbox.docs.': idsOf<Direction>({ request: 1, answer: 1, notice: 1 }),
  'sandbox.docs.notice_': NOTICES.map(({ name }) => name),
  'sandbox.conditions.': [...FAULTS, ...NUMBERS],
  'sandbox.product.': PRODUCT_ROLES,
  'developer.app.': Object.keys(TEAM_FIELDS).flatMap((name) => (name === 'scopes' ? [name] : [name, `${name}_hint`])),
  'developer.webhook.': EVENT_TYPES,
  'developer.fix.': [
    ...Object.values({ ...OAUTH_FAILURES, ...OIDC_FAILURES, ...RESOURCE_FAILURES }).flatMap(
      (row: FailureRow) => row.fix ?? [],
    ),
    ...['body', 'query', 'media_type', 'refresh_as_access', 'access_as_refresh', 'ours', 'other'],
  ],
  'sandbox.group.': FUNCTION_GROUPS.map(({ id }) => id),
  'developer.id_token.signature_': ['right', 'wrong', 'foreign'],
  'account.sign_ins.': idsOf<SignIn['outcome']>({ succeeded: 1, failed: 1, locked: 1, code_asked: 1 }),
  'developer.claim.': 'iss sub aud exp iat auth_time nonce at_hash sid acr amr'.split(' '),
  'sandbox.run.': STEP_STATES,
  'console.runs.': [...STEP_STATES, ...idsOf<RunState>({ under_way: 1, all_passed: 1, accepted: 1, replaced: 1 })],
  'console.orders.': ['order_moved', 'refund_moved'],
  'sandbox.mail.next_': CONTACT_ROLES,
  'sandbox.mail.why_': CONTACT_ROLES,
  'sandbox.mail.': LINK_PURPOSES.flatMap((purpose) => [`${purpose}_subject`, `${purpose}_text`]),
  'sandbox.told.': [...CONTACT_ROLES, ...idsOf<Channel>({ mail: 1, webhook: 1 }), 'sent', 'written'],
  'account.data.': ROWS_OF_PERSON.map(({ what }) => what).filter((what) => `account.data.${what}` in en),
  'office.state.': idsOf<Order['state'] | Refund['state']>({
    ...{ created: 1, paying: 1, issued: 1, 'create failed': 1, 'pay failed': 1 },
    ...{ reviewing: 1, refunded: 1, refused: 1 },
  }),
  'office.calendar.': idsOf<Product['calendar']>({ 'open date': 1, days: 1, levels: 1 }),
  'office.issues.': idsOf<Product['issues']>({ 'at once': 1, later: 1, 'by notice': 1 }),
  'office.refunds.': idsOf<Product['refunds']>({ 'at once': 1, 'after review': 1, never: 1 }),
  'office.mistakes_of.': Object.keys(MISTAKE_GROUPS),
  'office.done.': [...Object.keys(ACTIONS), 'unchanged', 'mistakes', 'honest'],
}

/** Keys that are derived from ids (src/sandbox/portal/texts.ts, src/authorization/developer/quickstart.ts). */
const derived = [
  ...Object.values(STATES).flatMap((states) => states.split(' ').map((state) => `console.state.${state}`)),
  ...ROLES.map((role) => `console.role.${role}`),
  ...['owner', 'developer'].map((role) => `sandbox.members.role.${role}`),
  ...STEPS.flatMap(({ id }) => [`sandbox.step.${id}.name`, `sandbox.step.${id}.todo`]),
  ...CHECK_IDS.flatMap((id) => [`sandbox.check.${id}`, `sandbox.check_failed.${id}`]),
  ...Object.keys(ORDER_STATES).map((state) => `sandbox.order_state.${state}`),
  ...Object.keys(REFUND_STATES).map((state) => `sandbox.refund_state.${state}`),
  ...VOUCHER_STATES.map((state) => `sandbox.voucher_state.${state}`),
  ...INTERFACES.map(({ name }) => `sandbox.interface.${name}`),
  ...FUNCTION_IDS.flatMap((id) => [`sandbox.function.${id}`, `sandbox.function_about.${id}`]),
  ...REFUSAL_REASONS.map((reason) => `sandbox.refusal.${reason}`),
  ...Object.keys(MEMBER_REFUSALS).map((reason) => `sandbox.members.refusal.${reason}`),
  ...Object.keys(TEAM_REFUSALS).map((reason) => `developer.refusal.${reason}`),
  ...MEMBER_ROLES.map((role) => `sandbox.members.role.${role}`),
  ...SECRET_REFUSALS.map((reason) => `sandbox.secret.refusal.${reason}`),
  ...PROGRAMS.flatMap(({ id }) => [`connect.program.${id}.person`, `connect.program.${id}.pkce`]),
  ...[...SCOPES, ...Object.keys(STANDARD_SCOPES)].map(scopeTextKey).flatMap((key) => [key, `${key}.detail`]),
  ...ofOpenApi(),
  ...ALL_ACTIONS.flatMap(ofAction),
  ...SHOWN.map((name) => `field.${name}`),
  ...['kind.live', 'kind.change', 'runs_on.server', 'runs_on.page', 'runs_on.native'].map((name) => `choice.${name}`),
  ...ACTOR_KINDS.map((kind) => `choice.actor.${kind}`),
  ...Object.entries(bySuffix).flatMap(([prefix, ids]) => ids.map((id) => keyOf(prefix, id))),
].map((key) => key.replaceAll('-', '_'))

describe('the texts of the pages', () => {
  it('have the same keys in both languages, and none is empty', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(en))
    for (const text of [...Object.values(en), ...Object.values(zh)]) expect(text.trim()).not.toBe('')
  })

  it('have the same placeholders in both languages', () => {
    const namesIn = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const key of Object.keys(en)) expect(new Set(namesIn(zh[key])), key).toEqual(new Set(namesIn(en[key])))
  })

  it('exist for every key in a view, where all keys are literals', () => {
    for (const path of sources) {
      const view = read(path)
      const keys = [...view.matchAll(/\bit\.t\('([^']+)'/g)].map(([, key]) => key)
      expect(keys.length, path).toBe([...view.matchAll(/\bit\.t\b/g)].length)
      for (const key of keys) expect(en, `${path} uses ${key}`).toHaveProperty([String(key)])
    }
  })

  it('exist for every step, check, function and refusal of a test run, and for every endpoint and its fields', () => {
    const missing = derived.filter((key) => !(key in en && key in zh))
    expect(missing, 'add these to views/locales/en.json and zh-CN.json').toEqual([])
  })

  it('never tell readers of a step to press Start, since many of its pages have no such button', () => {
    const keys = Object.keys(en).filter((key) => /^sandbox\.step\.\w+\.todo$/.test(key))
    expect(keys.length).toBe(STEPS.length)
    for (const key of keys) expect(`${en[key]} ${zh[key]}`, key).not.toMatch(/Start\b|“开始”/)
  })

  it('explain every reason for a refusal by a test run, in both languages', () => {
    for (const locale of ['en', 'zh-CN'] as const) {
      const said = REFUSAL_REASONS.map((reason) => refusalText(reason, translator(locale)))
      expect(new Set(said).size).toBe(REFUSAL_REASONS.length)
      for (const text of said)
        expect(text).toMatch(locale === 'en' ? /^[A-Z][^{}]{15,}\.$/ : /^\p{Script=Han}[^{}a-z]{5,}。$/u)
    }
  })

  it.each(['en', 'zh-CN'])('explain every setting in %s', (locale) => {
    expect(Object.keys(JSON.parse(read(`locales/settings.${locale}.json`)))).toEqual(Object.keys(settings.shape))
  })

  it('are all used', () => {
    const all = sources.map(read).join('\n') + code
    const unused = Object.keys(en).filter((key) => !derived.includes(key) && !all.includes(`'${key}'`))
    expect(unused, 'remove these; a field that only an output has belongs in SHOWN above').toEqual([])
  })
})
