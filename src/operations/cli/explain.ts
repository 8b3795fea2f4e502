import type { Values } from '../actions/index.ts'
import type { Explained, ExplainedRefusal } from '../explain/index.ts'
import { storyText } from './order-text.ts'
import { aligned, readable } from './text.ts'

/** What `gatehouse explain` prints: a part for each kind of record. */
export function explainedText(explained: Values): string {
  const {
    refusal,
    registered,
    followed,
    rejected_call,
    notice,
    order,
    token,
    app,
    partner,
    people = [],
  } = explained as Explained
  const parts = [
    refusal && section('refused request', refusalText(refusal)),
    registered && section('registered', fieldsOf(registered)),
    followed &&
      followed.refusals.length > 0 &&
      section('refused in the ten minutes after it', tableOf(followed.refusals)),
    followed &&
      followed.audit.length > 0 &&
      section(
        'in the audit log meanwhile',
        aligned(followed.audit.map((row) => [readable(row.at), row.event, row.actor])),
      ),
    rejected_call && section('rejected call of a partner', fieldsOf(rejected_call)),
    notice && section('notice that was accepted', fieldsOf(notice)),
    order && section('order', storyText(order)),
    token && section(token.kind, tokenText(token)),
    app && section('app', fieldsOf({ app_key: app.app_key, name: app.name, status: app.status })),
    app && section('its newest refusals', tableOf(app.refusals)),
    partner && section('partner', fieldsOf({ ...partner, rejected_calls: partner.rejected_calls.length })),
    ...(partner?.rejected_calls ?? []).map((call) => section('rejected call', fieldsOf(call))),
    ...people.map(({ grants, refusals, ...person }) => {
      const live = grants.filter(({ revoked_at }) => revoked_at === null).map(({ app_key }) => app_key)
      return section('person', `${fieldsOf({ ...person, apps: live })}\n${tableOf(refusals)}`)
    }),
  ]
  return parts.filter(Boolean).join('\n\n')
}

const section = (title: string, text: string): string => `${title}\n${text.replace(/^/gm, '  ')}`

const fieldsOf = (fields: object): string =>
  aligned(Object.entries(fields).map(([name, value]) => [name, readable(value)]))

const why = ({ step, failure, detail, answer }: ExplainedRefusal): string =>
  step ? `row ${step.row}: ${step.check}` : [failure ?? answer, detail].filter(Boolean).join(': ')

const refusalText = (refusal: ExplainedRefusal): string => {
  const {
    request_id,
    at,
    endpoint,
    method,
    status,
    rescode,
    answer,
    failure,
    detail,
    parameters,
    app_key,
    proved,
    token,
    received,
  } = refusal
  const caller = app_key === null ? 'unknown' : `${app_key}${proved ? '' : ' (not authenticated)'}`
  return fieldsOf({
    request_id,
    at,
    came: `${method} ${endpoint} with ${readable(parameters)}`,
    answered: `HTTP ${status}, rescode ${rescode} (${answer})`,
    refused_in: `${endpoint} ${why(refusal)}`,
    failure: detail ? `${failure}: ${detail}` : failure,
    ...(received ? { received } : {}),
    app: caller,
    token,
    user: refusal.cid === null ? null : `${refusal.cid} ${refusal.user_id}`,
  })
}

function tableOf(refusals: readonly ExplainedRefusal[]): string {
  if (refusals.length === 0) return 'no refused requests in 30 days'
  const rows = refusals.map((row) => [readable(row.at), row.request_id, row.endpoint, String(row.rescode), why(row)])
  return aligned([['AT', 'REQUEST_ID', 'ENDPOINT', 'RESCODE', 'WHY'], ...rows])
}

function tokenText({ begins, expires_at, issued, refusals }: NonNullable<Explained['token']>): string {
  const rows = issued.map(({ app_key, cid, user_id, scopes, used_at, revoked_at }) =>
    fieldsOf({ app_key, user: `${cid} ${user_id}`, scopes, used_at, grant_withdrawn_at: revoked_at }),
  )
  const known = rows.length > 0 ? rows : ['no such token is kept: it was never issued, or has ended']
  return [fieldsOf({ begins, expires_at }), ...known, tableOf(refusals)].join('\n')
}
