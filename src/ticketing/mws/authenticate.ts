import { pathMeant } from '../../platform/config/mounts.ts'
import type { Deps } from '../../platform/deps.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { authorizationHeader, clockDifference, parseHttpDate } from '../../platform/lib/crypto/signing.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { decodedPath, pathAsSent } from '../../platform/lib/web/request-target.ts'
import { NotAuthenticated } from '../mws-wire/index.ts'
import { findPartnerByClientId, notePartnerSecretUse, type PartnerWithSecrets } from '../partners/index.ts'
import { requireJson } from './body-guard.ts'

/** The parts of a call that authentication looks at. */
export interface PartnerCall {
  readonly method: string
  /** Request target as sent: the signature covers its path. */
  readonly url: string
  readonly authorization: string | undefined
  readonly date: string | undefined
  /** The PartnerId header; live partners may leave it out. */
  readonly partnerId: string | undefined
  /** Names of signature headers that were sent more than once. */
  readonly doubled: readonly string[]
}

/**
 * The checks of area B's authentication (REFERENCE "Signature", rules 4 and 5), in order: headers, clientId, signature,
 * Date, what only live partners may do, PartnerId, status. All failures look the same to the caller.
 */
export async function authenticateCall(deps: Deps, call: PartnerCall): Promise<PartnerWithSecrets> {
  const { authorization, date } = requireHeaders(call)
  const partner = await findCaller(deps, authorization)
  const used = verifyPartner(deps, partner, { ...call, authorization, date })
  const secret = used === null ? undefined : partner.secrets[used]
  if (!secret) throw new NotAuthenticated(localized('signature-unfit'))
  const wrongDate = dateProblem(deps, date)
  if (wrongDate !== undefined) throw new NotAuthenticated(wrongDate)
  if (partner.stage === 'sandbox') rejectTolerated(partner, toleratedIn(deps, partner, call))
  checkPartnerStatus(partner, call.partnerId)
  await notePartnerSecretUse(deps, secret)
  return partner
}

function requireHeaders({ authorization, date, doubled }: PartnerCall): { authorization: string; date: string } {
  const [repeated] = doubled
  if (repeated !== undefined) throw new NotAuthenticated(localized('field-came-twice', { field: repeated }))
  if (!authorization) throw new NotAuthenticated(localized('header-missing', { field: 'Authorization' }))
  if (!date) throw new NotAuthenticated(localized('header-missing', { field: 'Date' }))
  return { authorization, date }
}

async function findCaller(deps: Deps, authorization: string): Promise<PartnerWithSecrets> {
  const parsed = parseAuthorization(authorization)
  if ('problem' in parsed) throw new NotAuthenticated(parsed.problem)
  const partner = await findPartnerByClientId(deps, parsed.clientId)
  if (!partner) throw new NotAuthenticated(localized('no-client-id'))
  return partner
}

const secretsOf = (partner: PartnerWithSecrets): string[] => partner.secrets.map(({ secret }) => secret)

const verifyPartner = ({ config }: Deps, partner: PartnerWithSecrets, call: IncomingCall): number | null =>
  verify(call, partner.client_id, secretsOf(partner), config.MTP_PATH_PREFIXES)

function dateProblem({ clock, config }: Deps, date: string) {
  const parsed = parseHttpDate(date)
  if ('problem' in parsed) return parsed.problem
  const seconds = clockDifference(parsed, clock.now())
  return seconds > config.MTP_CLOCK_SKEW_S ? localized('date-differs', { seconds: Math.round(seconds) }) : undefined
}

/** Whether signature and Date prove that the partner sent the call, whatever else is wrong with it. */
export function isVerified(deps: Deps, partner: PartnerWithSecrets, call: PartnerCall): boolean {
  const { authorization, date, doubled } = call
  if (doubled.length > 0 || authorization === undefined || date === undefined) return false
  const used = verifyPartner(deps, partner, { ...call, authorization, date })
  return used !== null && dateProblem(deps, date) === undefined
}

/** Deviations of some long-running programs: live partners only get a warning. */
export const TOLERATED = ['partner-id-missing', 'query-signed'] as const
type Tolerated = (typeof TOLERATED)[number]

/** The deviations of a call that are accepted from a live partner, with a warning, and rejected in stage sandbox. */
export function toleratedIn(
  { config }: Pick<Deps, 'config'>,
  partner: PartnerWithSecrets,
  call: PartnerCall,
): Tolerated[] {
  const { partnerId, url, authorization = '', date = '' } = call
  const found: Tolerated[] = partnerId === undefined ? ['partner-id-missing'] : []
  const isQuery =
    url.includes('?') &&
    signedWithQuery({ ...call, authorization, date }, partner.client_id, secretsOf(partner), config.MTP_PATH_PREFIXES)
  return isQuery ? [...found, 'query-signed'] : found
}

function rejectTolerated({ partner_id }: PartnerWithSecrets, [name]: readonly Tolerated[]): void {
  if (name !== undefined) throw new NotAuthenticated(localized(name), partner_id)
}

/** Checks a kept call that is processed again, all but signature and Date. `headers`: undefined if none were kept. */
export function checkKeptCall(
  partner: PartnerWithSecrets,
  headers: Readonly<Record<string, string>> | undefined,
): void {
  if (headers && partner.stage === 'sandbox' && headers.partnerid === undefined) {
    rejectTolerated(partner, ['partner-id-missing'])
  }
  checkPartnerStatus(partner, headers?.partnerid)
  if (headers) requireJson(headers['content-type'])
}

function checkPartnerStatus(partner: PartnerWithSecrets, partnerId: string | undefined): void {
  if (partnerId !== undefined && !namesPartner(partnerId, partner.partner_id)) {
    throw new NotAuthenticated(localized('header-of-another'), partner.partner_id)
  }
  if (partner.status !== 'active') throw new NotAuthenticated(localized('partner-suspended'), partner.partner_id)
}

type HeaderProblem = LocalizedText<'scheme-not-mws' | 'no-colon' | 'client-id-empty'>

/** The signature follows the last colon, because Base64 has none. */
export function parseAuthorization(
  header: string,
): { clientId: string; signature: string } | { problem: HeaderProblem } {
  if (!header.startsWith('MWS ')) return { problem: localized('scheme-not-mws') }
  const credentials = header.slice('MWS '.length)
  const colon = credentials.lastIndexOf(':')
  if (colon < 0) return { problem: localized('no-colon') }
  const clientId = credentials.slice(0, colon)
  if (clientId.trim() === '') return { problem: localized('client-id-empty') }
  return { clientId, signature: credentials.slice(colon + 1) }
}

/** The PartnerId that a caller sent, or ''. Repeating it reveals nothing. */
export const claimedPartnerId = (given = ''): string => (/^\d{1,19}$/.test(given) ? given : '')

/** Whether a PartnerId header names this partner; compared as numbers, so `07001` is `7001`. */
export const namesPartner = (given: string, partnerId: bigint): boolean =>
  /^\d{1,19}$/.test(given.trim()) && BigInt(given.trim()) === partnerId

/** `url`: the request target as the caller sent it, with its query. */
type IncomingCall = Readonly<Record<'method' | 'url' | 'date' | 'authorization', string>>

/**
 * The paths that a partner may have signed (REFERENCE "What a signed call may do differently"): as sent, with its
 * query, and percent-decoded; and the same of the path that MTP_PATH_PREFIXES maps it to.
 */
function acceptedPaths(url: string, prefixes: readonly string[]): string[] {
  const sent = pathAsSent(url)
  const meant = pathMeant(prefixes, sent)
  const question = url.indexOf('?')
  const query = question < 0 ? '' : url.slice(question)
  const paths = meant === undefined ? [sent] : [sent, meant]
  return [...new Set(paths.flatMap((path) => [path, path + query, decodedPath(path)]))]
}

/**
 * Which of the partner's live secrets signed the call: an index into `secrets`, or null if none did. `prefixes` are
 * MTP_PATH_PREFIXES. Compares the whole header (signature rule 4) in constant time, and always tries every secret and
 * path.
 */
export function verify(
  call: IncomingCall,
  clientId: string,
  secrets: readonly string[],
  prefixes: readonly string[] = [],
): number | null {
  let matched: number | null = null
  for (const [index, secret] of secrets.entries()) {
    for (const path of acceptedPaths(call.url, prefixes)) {
      const expected = authorizationHeader(clientId, secret, { method: call.method, path, date: call.date })
      if (equalSecrets(expected, call.authorization)) matched ??= index
    }
  }
  return matched
}

/** Whether a call that one of the secrets signed was signed with its query: its path alone does not match. */
export const signedWithQuery = (
  call: IncomingCall,
  clientId: string,
  secrets: readonly string[],
  prefixes: readonly string[] = [],
): boolean =>
  call.url.includes('?') && verify({ ...call, url: pathAsSent(call.url) }, clientId, secrets, prefixes) === null
