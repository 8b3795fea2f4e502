import { decodeJwt, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { readBasic } from '../../platform/lib/web/basic-credentials.ts'
import type { ReportedRefusal } from '../../platform/lib/web/observe.ts'
import { parseQuery, queryOf } from '../../platform/lib/web/request-target.ts'
import { networkOf } from '../../platform/throttle/index.ts'
import { rowKeyOf } from '../account/index.ts'
import { ACCESS_TOKENS } from '../oauth/index.ts'
import { existingAppKeys } from '../registry/index.ts'
import { insertRefused, type NewRefused } from './store.ts'
import { tokenPrefixOf } from './token-prefix.ts'

/** Where area A and the standard dialect are. */
const AREA_A = /^\/oauth2?\//
const CONTRACT: Readonly<Record<string, string>> = {
  '/oauth/v2/authorize': 'A1',
  '/oauth/v2/consent': 'A1',
  '/oauth/v2/api/token': 'A2',
  '/oauth/v2/api/resource/get_phonenumber': 'A4',
  '/oauth/v2/api/resource/get_userinfo': 'A5',
}
const STANDARD = ['authorize', 'token', 'revoke', 'introspect', 'par', 'userinfo', 'logout'].map(
  (name) => `/oauth2/${name}`,
)
/** Forms of our own pages belong to the endpoint that shows them. */
const FORMS: Readonly<Record<string, string>> = {
  '/oauth2/consent': '/oauth2/authorize',
  '/oauth2/logout/confirm': '/oauth2/logout',
}
/** Parameters of these endpoints; the names of others may be anything. */
const PARAMETERS = new Set(
  'response_type app_key app_secret redirect_uri state scope grant_type code refresh_token access_token code_challenge code_challenge_method code_verifier client_id'.split(
    ' ',
  ),
)

const EVERY_MS = 1_000
/** In memory until the next writing: of one caller, and of all. */
const MAX_OF_CALLER = 50
const MAX_WAITING = 500
/** Rows a day, for all processes: of one app; of callers that are not authenticated, from one network, and altogether. */
const OF_APP = { kind: 'refusal kept of app', most: 1_000, windowS: DAY_S }
const OF_NETWORK = { kind: 'refusal kept of network', most: 200, windowS: DAY_S }
const OF_UNAUTHENTICATED = { kind: 'refusal kept of strangers', most: 5_000, windowS: DAY_S }
const LONGEST_DETAIL = 300
const LONGEST_URL = 8_192
/** Whatever has another form is no app_key, and may not even be text that PostgreSQL takes. */
const APP_KEY = /^[A-Za-z0-9_-]{1,64}$/

interface Waiting {
  readonly row: NewRefused
  readonly address: string
  /** An access token of ours, where nothing else says which app the request is of. */
  readonly token: OpaqueToken | null
}

/** The form of a body as area A's rooms have read it. */
const readForm = z.object({ form: z.object({ values: z.instanceof(Map), repeated: z.array(z.string()) }) })

/** Records refused requests for `explain`, a second later and many at once: no request waits for it. */
export interface RefusalRecorder {
  /** Quick; does nothing for what is not of area A, or too much. */
  record(refused: ReportedRefusal): void
  /** Writes what waits. */
  close(): Promise<void>
}

export function openRefusalRecorder(deps: Deps, log: SampledLog): RefusalRecorder {
  const { db, keys, clock, metrics, rateLimiter } = deps
  let waiting: Waiting[] = []
  const callers = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const mayRecord = (row: NewRefused, address: string): boolean => {
    // Whoever only names an app must not use up what is kept of it.
    if (row.proved && row.app_key !== null) return !rateLimiter.count(OF_APP, row.app_key).exceeded
    return (
      !rateLimiter.count(OF_NETWORK, networkOf(address)).exceeded && !rateLimiter.count(OF_UNAUTHENTICATED, '').exceeded
    )
  }
  const write = async (some: readonly Waiting[]): Promise<void> => {
    try {
      const claimed = [
        ...new Set(some.flatMap(({ row }) => (row.app_key !== null && !row.proved ? [row.app_key] : []))),
      ]
      const existing = claimed.length > 0 ? await existingAppKeys(db, claimed) : []
      const tokens = some.flatMap(({ token }) => token ?? [])
      const owners = tokens.length > 0 ? await ACCESS_TOKENS.appsOf(db, tokens) : []
      // A claimed app_key that no app has is whatever somebody typed, a secret perhaps.
      const known = some.map(({ row, address, token }) => {
        const owner = token && owners.find(({ token_hash }) => token_hash.equals(token.hash))
        if (owner) return { row: { ...row, app_key: owner.app_key, proved: true }, address }
        const named = row.proved || (row.app_key !== null && existing.some(({ app_key }) => app_key === row.app_key))
        return { row: named ? row : { ...row, app_key: null }, address }
      })
      for (const [place, { row }] of known.entries()) {
        // Of an app that was authenticated it is counted already.
        if (row.app_key === null || some[place]?.row.proved) continue
        metrics.usage.count(row.app_key, row.proved ? 'refused' : 'claimed', row.rescode)
      }
      const kept = known.flatMap(({ row, address }) => (mayRecord(row, address) ? [row] : []))
      if (kept.length > 0) await insertRefused(db, kept)
      metrics.refusalsLeftOut.inc(some.length - kept.length)
    } catch (error) {
      logBackgroundFailure(log, 'refused requests could not be recorded', error)
      metrics.refusalsLeftOut.inc(some.length)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const some = waiting
    waiting = []
    callers.clear()
    if (some.length > 0) writing = writing.then(() => write(some))
    return writing
  }

  return {
    record: (refused) => {
      if (!AREA_A.test(refused.url)) return
      const { note, address } = refused
      const proved = note.isAppUnauthenticated ? undefined : note.appKey
      if (proved !== undefined) metrics.usage.count(proved, 'refused', note.code)
      const caller = proved === undefined ? networkOf(address) : `app ${proved}`
      const own = callers.get(caller) ?? 0
      if (waiting.length >= MAX_WAITING || own >= MAX_OF_CALLER) {
        metrics.refusalsLeftOut.inc()
        return
      }
      callers.set(caller, own + 1)
      const row = refusalOf(refused, clock.now())
      const token = proved !== undefined ? null : parseToken(keys, PREFIX.accessToken, accessTokensOf(refused)[0] ?? '')
      waiting.push({ row, address, token })
      timer ??= setTimeout(() => void flush(), EVERY_MS).unref()
    },
    close: flush,
  }
}

/** What is kept of a refused request: nothing that is secret. */
export function refusalOf(refused: ReportedRefusal, at: Date): NewRefused {
  const { id, url: sent, method, status, note, body, authorization } = refused
  const url = cutTo(sent, LONGEST_URL)
  const { values, repeated } = parametersOf(url, body)
  const names = [...new Set([...values.keys(), ...repeated])]
  const strange = names.filter((name) => !PARAMETERS.has(name)).length
  const { code = 0, failure = null, detail = null, appKey, user } = note
  const [claimed] = namedApps(values, authorization)
  return {
    request_id: id,
    at,
    endpoint: endpointOf(url, values.get('grant_type')),
    method: /^[A-Z]{1,20}$/.test(method) ? method : '?',
    status,
    rescode: code,
    failure,
    detail: detail ? cutTo(detail.replaceAll('\0', ''), LONGEST_DETAIL) : null,
    parameters: [...names.filter((name) => PARAMETERS.has(name)), ...(strange > 0 ? [`(${strange}_more)`] : [])].join(
      ' ',
    ),
    app_key: appKey ?? (claimed !== undefined && APP_KEY.test(claimed) ? claimed : null),
    proved: appKey !== undefined && !note.isAppUnauthenticated,
    token: tokenPrefixOf(accessTokensOf(refused)[0] ?? values.get('refresh_token') ?? values.get('code')),
    routing_key: user ? rowKeyOf({ cid: user.cid, user_id: user.userId }).routingKey : 0,
    cid: user?.cid ?? null,
    user_id: user?.userId ?? null,
    received: receivedOf(failure, values),
  }
}

/** The apps that a request names in one way or another; whoever sent it may be none of them. */
export function namedApps(values: ReadonlyMap<string, string>, authorization: string | undefined): string[] {
  const basic = readBasic(authorization)
  const names = [
    values.get('app_key'),
    values.get('client_id'),
    basic === 'malformed' ? undefined : basic?.appKey,
    claimsOf(values.get('client_assertion')).iss,
    [claimsOf(values.get('id_token_hint')).aud].flat()[0],
  ]
  return names.filter((name) => name !== undefined)
}

/** One that cannot be read is refused for that. */
const claimsOf = (jwt?: string): JWTPayload => (jwt ? readOr(() => decodeJwt(jwt), {}) : {})

type Presenting = Pick<ReportedRefusal, 'url' | 'body' | 'authorization'>

/** The apps whose access tokens a request presents, whatever has become of them. */
export async function appsOfTokens(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  request: Presenting,
): Promise<readonly string[]> {
  const tokens = accessTokensOf(request).flatMap((text) => parseToken(keys, PREFIX.accessToken, text) ?? [])
  return tokens.length > 0 ? (await ACCESS_TOKENS.appsOf(db, tokens)).map(({ app_key }) => app_key) : []
}

function accessTokensOf({ url, body, authorization }: Presenting): string[] {
  const [, inHeader] = /^bearer +(.*)$/i.exec(authorization ?? '') ?? []
  const inForm: unknown = readForm.safeParse(body).data?.form.values.get('access_token')
  const inQuery = parseQuery(queryOf(url)).values.get('access_token')
  return [inForm, inQuery, inHeader?.trim()].filter((text) => typeof text === 'string')
}

/** Parameters whose values are registered with the app, or known to all. None of them is a secret. */
const COMPARED = ['redirect_uri', 'scope', 'response_type', 'grant_type']
const LONGEST_VALUE = 300

/** Without what stands in the query of a URI, which may be anything. */
function receivedOf(failure: string | null, values: ReadonlyMap<string, string>): NewRefused['received'] {
  const name = COMPARED.find((one) => failure?.startsWith(one))
  const value = name && values.get(name)?.replaceAll('\0', '')
  if (!name || !value) return null
  const shown = name === 'redirect_uri' ? value.replace(/[?#].*$/s, (rest) => `${rest[0]}…`) : value
  return { [name]: cutTo(shown, LONGEST_VALUE) }
}

function parametersOf(url: string, body: unknown) {
  const query = parseQuery(queryOf(url))
  const { data } = readForm.safeParse(body)
  if (!data) return query
  const texts = [...data.form.values].filter((pair): pair is [string, string] =>
    pair.every((one) => typeof one === 'string'),
  )
  return { values: new Map([...query.values, ...texts]), repeated: [...query.repeated, ...data.form.repeated] }
}

function endpointOf(url: string, grantType: string | undefined): string {
  const asked = url.split('?', 1)[0] ?? ''
  const path = FORMS[asked] ?? asked
  if (STANDARD.includes(path)) return path
  const endpoint = CONTRACT[path] ?? '(no such path)'
  return endpoint === 'A2' && grantType === 'refresh_token' ? 'A3' : endpoint
}
