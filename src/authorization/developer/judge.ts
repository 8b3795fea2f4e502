import { contractAnswer, NamedFailure } from '../../platform/lib/failure.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import { ANOTHER_TYPE } from '../../platform/lib/web/envelope.ts'
import { foundElsewhere, foundInQuery } from '../../platform/lib/web/misplaced.ts'
import { FORM_WANTED } from '../../platform/lib/web/oauth-response.ts'
import { parseQuery, pathAsSent, type Query, queryOf } from '../../platform/lib/web/request-target.ts'
import { type FailureAnswer, invalidRequest, methodNotAllowed, RescodeError } from '../../platform/lib/web/rescode.ts'
import { CONTRACT_REQUESTS } from '../oauth/index.ts'
import type { StandardRequests } from '../oidc/index.ts'
import type { PersonRequest } from '../people/index.ts'
import { appsOfTokens, namedApps, refusalOf } from '../refusals/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { checkRead } from '../resource/index.ts'
import { findAppAccess } from '../teams/index.ts'
import { reasonOf } from './failure-texts.ts'
import { isForm, type PastedRequest, parsePasted } from './pasted.ts'
import { OPERATIONS } from './reference.ts'

/** Predicts the outcome of a pasted request, with the checks of the endpoints themselves. */

const JUDGED = [
  ...(['contract_authorize', 'contract_token', 'contract_phone', 'contract_user'] as const),
  ...(['authorize', 'authorize_form', 'token', 'userinfo', 'userinfo_form'] as const),
]
type Judged = (typeof JUDGED)[number]

export const ENDPOINTS = OPERATIONS.filter(({ id }) => JUDGED.some((judged) => judged === id))

const NOTHING = parseQuery('')

/** Parameters whose values are shown again; any other may be a secret. */
const SHOWN =
  'app_key client_id response_type response_mode grant_type scope prompt max_age code_challenge_method'.split(' ')
const MAX_SHOWN = 200

export async function judge(context: PersonRequest, requests: StandardRequests, text: string) {
  const pasted = parsePasted(text)
  if (!pasted) return { verdict: 'unreadable' } as const
  const path = pathAsSent(pasted.url)
  const atPath = ENDPOINTS.filter((endpoint) => endpoint.path === path)
  const [first] = atPath
  if (!first) return { verdict: 'elsewhere', path: cutTo(path, MAX_SHOWN) } as const
  const operation = atPath.find(({ method }) => method.toUpperCase() === pasted.method) ?? first
  const sent = sentIn(pasted)
  const request = {
    title: context.t(`api.${operation.id}.title`),
    method: pasted.method,
    path,
    hosts: otherHost(context, operation, pasted),
    parameters: parametersOf(operation, sent),
  }
  const owned = await ownAppOf(context, pasted, sent)
  if (owned === 'not-yours' || owned === 'token-not-yours') return { verdict: owned, request } as const
  const refusal = await refusalOfPasted(context, requests, { operation, pasted, sent, atPath })
  if (!refusal) return { verdict: 'accepted', request } as const
  return { verdict: 'refused', request, reason: reasonOf(refusal, owned, context.t) } as const
}

type Sent = Readonly<Record<'query' | 'form', Query>>

const sentIn = (pasted: PastedRequest): Sent => ({
  query: parseQuery(queryOf(pasted.url)),
  form: pasted.body !== null && isForm(pasted) ? parseQuery(pasted.body) : NOTHING,
})

/** The host of the request and the right one, if they differ. */
function otherHost({ deps: { config } }: PersonRequest, { at }: ApiOperation, { origin }: PastedRequest) {
  const ours = new URL(config[at]).origin
  return origin === null || ours === origin || ours.endsWith(origin) ? null : { sent: origin, ours }
}

/** `value` is null if it may be a secret; `isRead`: the endpoint reads this parameter there. */
function parametersOf({ query = [], form = [] }: ApiOperation, sent: Sent) {
  const read = (messages: typeof query) => messages.flatMap((message) => Object.keys(message.shape))
  const places = [
    ['query', sent.query, read(query)],
    ['form', sent.form, read(form)],
  ] as const
  return places.flatMap(([place, { values }, names]) =>
    [...values].map(([name, value]) => ({
      name: cutTo(name, MAX_SHOWN),
      value: SHOWN.includes(name) ? cutTo(value, MAX_SHOWN) : name === 'redirect_uri' ? withoutQuery(value) : null,
      length: value.length,
      place,
      isRead: names.includes(name),
    })),
  )
}

const withoutQuery = (uri: string): string => cutTo(uri.replace(/[?#].*$/s, '…'), MAX_SHOWN)

/** The app that the request names or has a token of, if a team of the person has it; reveals nothing about others. */
async function ownAppOf({ deps, person }: PersonRequest, { headers, url }: PastedRequest, { query, form }: Sent) {
  const isOwn = async (appKey: string) => (await findAppAccess(deps.db, person, appKey)) !== undefined
  const values = new Map([...query.values, ...form.values])
  const named = [...new Set([query, form].flatMap(({ values }) => namedApps(values, headers.authorization)))]
  if ((await Promise.all(named.map(isOwn))).includes(false)) return 'not-yours'
  const ofTokens = await appsOfTokens(deps, { url, body: { form }, authorization: headers.authorization })
  if ((await Promise.all(ofTokens.map(isOwn))).includes(false)) return 'token-not-yours'
  const [appKey] = [...namedApps(values, headers.authorization), ...ofTokens]
  return appKey === undefined ? undefined : showMicroApp(deps, appKey)
}

interface Attempt {
  readonly operation: ApiOperation
  readonly pasted: PastedRequest
  readonly sent: Sent
  readonly atPath: readonly ApiOperation[]
}

/** The refusal as it would be stored; undefined if the request would be accepted. */
async function refusalOfPasted(context: PersonRequest, requests: StandardRequests, attempt: Attempt) {
  const { pasted, sent } = attempt
  const answer = await failureOf(() => send(context, requests, attempt), attempt)
  if (!answer) return undefined
  const { rescode: code, failure } = answer
  const note = { code, ...(failure.name ? { failure: failure.name } : {}), detail: failure.detail ?? '' }
  const { url, method, headers } = pasted
  const { id, ip: address } = context.request
  const reported = {
    ...{ id, url, method: method ?? '', status: 0, address, note },
    authorization: headers.authorization,
    body: { form: sent.form },
  }
  const { parameters: _, routing_key: __, ...refused } = refusalOf(reported, context.deps.clock.now())
  return { ...refused, detail: failure.detail ?? null, parameters: [] }
}

async function failureOf(work: () => Promise<unknown>, { operation, pasted }: Attempt) {
  try {
    await work()
    return undefined
  } catch (error) {
    const { url, body, headers } = pasted
    const method = pasted.method ?? operation.method.toUpperCase()
    const named =
      operation.dialect === 'contract'
        ? foundElsewhere(error, { hasBody: body !== null, authorization: headers.authorization })
        : foundInQuery(error, { url, method })
    if (named instanceof NamedFailure) return contractAnswer(named)
    if (named instanceof RescodeError) return named satisfies FailureAnswer
    throw named
  }
}

function send(
  { deps, request }: PersonRequest,
  requests: StandardRequests,
  { operation, pasted, sent, atPath }: Attempt,
) {
  const { method, url, headers, body } = pasted
  const methods = atPath.map((endpoint) => endpoint.method.toUpperCase())
  if (method !== null && !methods.includes(method)) throw methodNotAllowed(methods)
  const call = { authorization: headers.authorization, address: request.ip }
  if (operation.form && body !== null && !isForm(pasted)) {
    throw invalidRequest(FORM_WANTED, { name: ANOTHER_TYPE })
  }
  const checks: Readonly<Record<Judged, () => Promise<unknown>>> = {
    contract_authorize: () => CONTRACT_REQUESTS.checkAuthorization(deps, url),
    contract_token: () => CONTRACT_REQUESTS.rehearseTokenCall(deps, { ...call, url, hasBody: body !== null }),
    authorize: () => requests.checkAuthorization(sent.query),
    authorize_form: () => requests.checkAuthorization(sent.form),
    token: () => requests.rehearseTokenCall({ ...call, form: sent.form }),
    contract_phone: () => checkRead(deps, url, 'phone'),
    contract_user: () => checkRead(deps, url, 'profile'),
    // The body of a GET is not read.
    userinfo: () => requests.checkUserInfo({ ...call, form: NOTHING }),
    userinfo_form: () => requests.checkUserInfo({ ...call, form: sent.form }),
  }
  return checks[operation.id as Judged]()
}
