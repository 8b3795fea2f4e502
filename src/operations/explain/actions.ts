import { checkText } from '../../authorization/refusals/index.ts'
import { eventInWords } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { action, onTerminal, type PageAddress, type Shown } from '../../platform/lib/action.ts'
import { ORDER_PARTS } from '../../ticketing/orders/index.ts'
import {
  aboutWhat,
  type Explained,
  type ExplainedRefusal,
  explain,
  explainRequest,
  oneRequest,
  withoutPartnerTexts,
} from './explain.ts'

interface Person {
  readonly cid: number | null
  readonly user_id: string | null
}
const person: Shown<Person> = {
  name: 'user',
  of: ({ cid, user_id }) => (cid === null || user_id === null ? null : `${cid}/${user_id}`),
  page: ({ cid, user_id }) => (cid === null ? undefined : ['/users/user', { cid, user_id }]),
}

const pageOfCall = ({ partner_id, id }: Readonly<Record<string, unknown>>, kind: string): PageAddress => [
  '/traffic/:partner_id/:kind/:id',
  { partner_id, kind, id },
]

/** `code_expired (A2, check 10: …)`: the failure, and the row of REFERENCE that has it, which may cover several. */
const why: Shown<ExplainedRefusal> = {
  name: 'why',
  of: ({ endpoint, step, failure: name, detail }, t) => {
    const failure = [name, detail].filter((text) => text !== null).join(' ')
    if (!step) return failure || null
    return t('console.explain.row', {
      failure,
      endpoint,
      row: String(step.row),
      check: checkText(step.check, t.locale),
    })
  },
}

const REFUSAL: readonly Shown<ExplainedRefusal>[] = [
  { name: 'came', of: ({ method, endpoint }) => `${method} ${endpoint}` },
  { name: 'answered', of: ({ rescode, answer, status }) => `${rescode} ${answer} (HTTP ${status})` },
  why,
]

const RECEIVED: Shown<{ readonly received_at: Date }> = { name: 'at', of: ({ received_at }) => received_at }

type Rejected = NonNullable<Explained['rejected_call']>
const REJECTED: readonly Shown<Rejected>[] = [
  { name: 'came', of: ({ path }) => path },
  { name: 'why', of: ({ reason }) => reason },
  'verified',
]

type Notice = NonNullable<Explained['notice']>
type Followed = NonNullable<Explained['followed']>['audit'][number]
type Issued = NonNullable<Explained['token']>['issued'][number]
type Named = NonNullable<Explained['people']>[number]

/** What terminal and pages show of each kind of record. */
const parts = {
  refusal: [
    'at',
    ...REFUSAL,
    'parameters',
    { name: 'received', of: ({ received }) => received ?? undefined },
    {
      name: 'app_key',
      of: ({ app_key, proved }, t) =>
        app_key === null || proved
          ? app_key
          : t('layout.pair', { label: app_key, value: t('console.explain.unproved') }),
      page: ({ app_key }) => (app_key === null ? undefined : ['/apps/:app_key', { app_key }]),
    },
    person,
    { name: 'token', page: ({ token }) => (token ? ['/search', { q: token }] : undefined) },
  ] satisfies Shown<ExplainedRefusal>[],
  received: [],
  registered: [],
  refusals: ['at', 'request_id', ...REFUSAL],
  audit: [
    'at',
    { name: 'event', onTerminalOnly: true },
    { name: 'event', of: ({ event }, t) => eventInWords(event, t.locale), onPagesOnly: true },
    'actor',
    person,
  ] satisfies Shown<Followed>[],
  rejected_call: [
    RECEIVED,
    ...REJECTED,
    'partner_id',
    'answer',
    {
      name: 'more',
      of: ({ partner_id }, t) => (partner_id === null ? undefined : t('console.explain.in_traffic')),
      page: (call) => pageOfCall(call, 'rejected'),
      onPagesOnly: true,
    },
  ] satisfies Shown<Rejected>[],
  rejected_calls: [RECEIVED, { name: 'request_id', of: ({ id }) => id }, ...REJECTED] satisfies Shown<Rejected>[],
  notice: [
    RECEIVED,
    'partner_id',
    { name: 'came', of: ({ path }) => path },
    'warnings',
    'answer',
    {
      name: 'more',
      of: (_, t) => t('console.explain.in_traffic'),
      page: (notice) => pageOfCall(notice, 'notice'),
      onPagesOnly: true,
    },
  ] satisfies Shown<Notice>[],
  issued: [
    'app_key',
    person,
    { name: 'scopes', of: ({ scopes }) => scopes.join(' ') },
    'used_at',
    {
      name: 'state',
      of: ({ revoked_at }) => revoked_at ?? 'active',
      tone: ({ revoked_at }) => (revoked_at === null ? 'good' : 'bad'),
    },
  ] satisfies Shown<Issued>[],
  // No columns: each fact is labelled with app or partner, as both have facts of the same names.
  app: [],
  partner: [],
  people: onTerminal<Named>([
    person,
    'phone_number',
    'status',
    'created_at',
    {
      name: 'apps',
      of: ({ grants }) => grants.flatMap(({ revoked_at, app_key }) => (revoked_at === null ? [app_key] : [])),
    },
  ]),
  ...ORDER_PARTS,
}

/** For questions such as why a request was refused. */
export const EXPLAIN_ACTIONS = [
  action({
    route: 'GET /requests/:request_id',
    role: 'viewer',
    input: oneRequest,
    run: (deps: Deps, { request_id }) => explainRequest(deps, request_id),
    masked: withoutPartnerTexts,
  }),
  action({
    route: 'GET /explain',
    command: 'explain',
    arguments: ['about'],
    role: 'support',
    input: aboutWhat,
    run: (deps: Deps, { about }) => explain(deps, about),
    parts,
  }),
]
