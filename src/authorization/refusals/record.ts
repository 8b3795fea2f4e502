import { decodeJwt, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { DAY_S, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { readBasic, readBearer } from '../../platform/lib/web/basic-credentials.ts'
import type { ReportedRefusal } from '../../platform/lib/web/observe.ts'
import { parseQuery, queryOf } from '../../platform/lib/web/request-target.ts'
import { networkOf } from '../../platform/throttle/index.ts'
import { rowKeyOf } from '../account/index.ts'
import { ACCESS_TOKENS } from '../oauth/index.ts'
import { existingAppKeys, MICRO_APP_FIELDS } from '../registry/index.ts'
import { insertRefused, type NewRefused } from './store.ts'

/** The stored prefix of a token holds its routing key, its expiry and 24 of 168 random bits. */
const STORED = /^(gh(?:at|rt|ac))_([A-Za-z0-9_-]{12})/
const KINDS: Readonly<Record<string, 'access token' | 'refresh token' | 'code'>> = {
  ghat: 'access token',
  ghrt: 'refresh token',
  ghac: 'code',
}

/** The prefix of a token; null for anything else. */
const tokenPrefixOf = (text: string | undefined): string | null => STORED.exec(text ?? '')?.[0] ?? null

/** What the prefix of a token tells; undefined if it is none or too short. `begins`: as stored with refusals. */
export function parseTokenPrefix(text: string) {
  const [begins, prefix = '', body = ''] = STORED.exec(text) ?? []
  const kind = KINDS[prefix]
  if (begins === undefined || kind === undefined) return undefined
  const bytes = Buffer.from(body, 'base64url')
  return { begins, kind, routingKey: bytes.readUInt16BE(0), expiresAt: fromEpochSeconds(bytes.readUInt32BE(2)) }
}

/** Paths of area A and the standard dialect. */
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
/** The parameters that are stored by name; other names may be anything. */
const PARAMETERS = new Set(
  'response_type app_key app_secret redirect_uri state scope grant_type code refresh_token access_token code_challenge code_challenge_method code_verifier client_id'.split(
    ' ',
  ),
)

const EVERY_MS = 1_000
/** Held in memory until they are written: of one caller between two writes, and in total. */
const MAX_OF_CALLER = 50
const MAX_PENDING = 500
/** Rows a day, across all processes: of one app; of unauthenticated callers, from one network and in total. */
const OF_APP = { kind: 'refusal kept of app', most: 1_000, windowS: DAY_S }
const OF_NETWORK = { kind: 'refusal kept of network', most: 200, windowS: DAY_S }
const OF_UNAUTHENTICATED = { kind: 'refusal kept of strangers', most: 5_000, windowS: DAY_S }
const MAX_DETAIL = 300
const MAX_URL = 8_192

interface Pending {
  readonly row: NewRefused
  readonly address: string
  /** An access token of ours, if nothing else tells which app sent the request. */
  readonly token: OpaqueToken | null
}

/** A form body as parsed by the rooms of area A. */
const readForm = z.object({ form: z.object({ values: z.instanceof(Map), repeated: z.array(z.string()) }) })

/** Records refused requests for `explain`, in batches a second later, so that no request waits. */
export interface RefusalRecorder {
  /** Fast. Ignores requests outside area A, and drops those beyond the limits. */
  record(refused: ReportedRefusal): void
  /** Writes the pending rows. */
  close(): Promise<void>
}

export function openRefusalRecorder(deps: Deps, log: SampledLog): RefusalRecorder {
  const { db, keys, clock, metrics, rateLimiter } = deps
  const pending: Pending[] = []
  const callers = new Map<string, number>()
  /** Set from the first pending row until its write has ended, so there is one write at a time. */
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const mayRecord = (row: NewRefused, address: string): boolean => {
    // Somebody who only claims to be an app must not use up its rows.
    if (row.proved && row.app_key !== null) return !rateLimiter.count(OF_APP, row.app_key).exceeded
    return (
      !rateLimiter.count(OF_NETWORK, networkOf(address)).exceeded && !rateLimiter.count(OF_UNAUTHENTICATED, '').exceeded
    )
  }
  const write = async (batch: readonly Pending[]): Promise<void> => {
    try {
      const claimed = batch.flatMap(({ row }) => (row.app_key !== null && !row.proved ? [row.app_key] : []))
      const existing = claimed.length > 0 ? await existingAppKeys(db, claimed) : []
      const tokens = batch.flatMap(({ token }) => token ?? [])
      const owners = tokens.length > 0 ? await ACCESS_TOKENS.appsOf(db, tokens) : []
      // A claimed app_key that does not exist is whatever somebody typed, perhaps a secret.
      const attributed = batch.map(({ row, address, token }) => {
        const owner = token && owners.find(({ token_hash }) => token_hash.equals(token.hash))
        if (owner) return { row: { ...row, app_key: owner.app_key, proved: true }, address }
        const named = row.proved || (row.app_key !== null && existing.some(({ app_key }) => app_key === row.app_key))
        return { row: named ? row : { ...row, app_key: null }, address }
      })
      for (const [index, { row }] of attributed.entries()) {
        // For an authenticated app, `record` has counted it.
        if (row.app_key === null || batch[index]?.row.proved) continue
        metrics.usage.count(row.app_key, row.proved ? 'refused' : 'claimed', row.rescode)
      }
      const kept = attributed.flatMap(({ row, address }) => (mayRecord(row, address) ? [row] : []))
      if (kept.length > 0) await insertRefused(db, kept)
      metrics.refusalsLeftOut.inc(batch.length - kept.length)
    } catch (error) {
      logBackgroundFailure(log, 'refused requests could not be recorded', error)
      metrics.refusalsLeftOut.inc(batch.length)
    }
  }
  const writePending = async (): Promise<void> => {
    const batch = [...pending]
    if (batch.length > 0) await write(batch)
    // Only now: while the database is away, rows that are being written count as well.
    pending.splice(0, batch.length)
    callers.clear()
    timer = undefined
    if (pending.length > 0) flushSoon()
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    writing = writing.then(writePending)
    return writing
  }
  const flushSoon = (): void => {
    timer ??= setTimeout(() => void flush(), EVERY_MS).unref()
  }

  return {
    record: (refused) => {
      if (!AREA_A.test(refused.url)) return
      const { note, address } = refused
      const proved = note.isAppUnauthenticated ? undefined : note.appKey
      if (proved !== undefined) metrics.usage.count(proved, 'refused', note.code)
      const caller = proved === undefined ? networkOf(address) : `app ${proved}`
      const ofCaller = callers.get(caller) ?? 0
      if (pending.length >= MAX_PENDING || ofCaller >= MAX_OF_CALLER) {
        metrics.refusalsLeftOut.inc()
        return
      }
      callers.set(caller, ofCaller + 1)
      const row = refusalOf(refused, clock.now())
      const token = proved !== undefined ? null : parseToken(keys, PREFIX.accessToken, accessTokensOf(refused)[0] ?? '')
      pending.push({ row, address, token })
      flushSoon()
    },
    close: async () => {
      do {
        await flush()
      } while (pending.length > 0) // rows that came meanwhile
    },
  }
}

/** The row of a refused request, which contains no secret. */
export function refusalOf(refused: ReportedRefusal, at: Date): NewRefused {
  const { id, url: sent, method, status, note, body, authorization } = refused
  const url = cutTo(sent, MAX_URL)
  const { values, repeated } = parametersOf(url, body)
  const names = [...new Set([...values.keys(), ...repeated])]
  const shownNames = names.filter((name) => PARAMETERS.has(name))
  const hidden = names.length - shownNames.length
  const { code = 0, failure = null, detail = null, appKey, user } = note
  // Text that is no app_key may not even be text that PostgreSQL accepts.
  const claimed = MICRO_APP_FIELDS.app_key.created.safeParse(namedApps(values, authorization)[0]).data
  return {
    request_id: id,
    at,
    endpoint: endpointOf(url, values.get('grant_type')),
    method: /^[A-Z]{1,20}$/.test(method) ? method : '?',
    status,
    rescode: code,
    failure,
    detail: detail ? cutTo(detail.replaceAll('\0', ''), MAX_DETAIL) : null,
    parameters: [...shownNames, ...(hidden > 0 ? [`(${hidden}_more)`] : [])].join(' '),
    app_key: appKey ?? claimed ?? null,
    proved: appKey !== undefined && !note.isAppUnauthenticated,
    token: tokenPrefixOf(accessTokensOf(refused)[0] ?? values.get('refresh_token') ?? values.get('code')),
    routing_key: user ? rowKeyOf({ cid: user.cid, user_id: user.userId }).routingKey : 0,
    cid: user?.cid ?? null,
    user_id: user?.userId ?? null,
    received: receivedOf(failure, values),
  }
}

/** The apps that a request claims to come from, in whichever way. None of the claims is verified. */
export function namedApps(values: ReadonlyMap<string, string>, authorization: string | undefined): string[] {
  const basic = readBasic(authorization)
  const names = [
    values.get('app_key'),
    values.get('client_id'),
    basic === 'malformed' ? undefined : basic?.appKey,
    claimsOf(values.get('client_assertion')).iss,
    [claimsOf(values.get('id_token_hint')).aud].flat()[0],
  ]
  // Claims may be any JSON.
  return names.filter((name) => typeof name === 'string')
}

/** Empty for a JWT that cannot be decoded, for which the request is refused elsewhere. */
const claimsOf = (jwt?: string): JWTPayload => (jwt ? readOr(() => decodeJwt(jwt), {}) : {})

type Presenting = Pick<ReportedRefusal, 'url' | 'body' | 'authorization'>

/** The apps whose access tokens a request presents, valid or not. */
export async function appsOfTokens(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  request: Presenting,
): Promise<readonly string[]> {
  const tokens = accessTokensOf(request).flatMap((text) => parseToken(keys, PREFIX.accessToken, text) ?? [])
  return tokens.length > 0 ? (await ACCESS_TOKENS.appsOf(db, tokens)).map(({ app_key }) => app_key) : []
}

function accessTokensOf({ url, body, authorization }: Presenting): string[] {
  const inForm: unknown = readForm.safeParse(body).data?.form.values.get('access_token')
  const inQuery = parseQuery(queryOf(url)).values.get('access_token')
  return [inForm, inQuery, readBearer(authorization)].filter((text) => typeof text === 'string')
}

/** Parameters whose values are registered with the app or well known, so not secret. */
const COMPARED = ['redirect_uri', 'scope', 'response_type', 'grant_type']
const MAX_VALUE = 300

const withoutSecrets = (uri: string): string =>
  uri.replace(/[?#].*$/s, (rest) => `${rest[0]}…`).replace(/^([^/]*\/\/)?[^/]*@/s, '$1…@')

/** Without the user name, password, query and fragment of a URI, which may contain anything. */
function receivedOf(failure: string | null, values: ReadonlyMap<string, string>): NewRefused['received'] {
  const name = COMPARED.find((parameter) => failure?.startsWith(parameter))
  const value = name && values.get(name)?.replaceAll('\0', '')
  if (!name || !value) return null
  const shown = name === 'redirect_uri' ? withoutSecrets(value) : value
  return { [name]: cutTo(shown, MAX_VALUE) }
}

function parametersOf(url: string, body: unknown) {
  const query = parseQuery(queryOf(url))
  const { data } = readForm.safeParse(body)
  if (!data) return query
  const texts = [...data.form.values].filter((pair): pair is [string, string] =>
    pair.every((text) => typeof text === 'string'),
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
