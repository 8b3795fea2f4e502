import { randomBytes } from 'node:crypto'
import { exhaustedUntil, failedOnce, type Limit } from '../db/failed-attempts/limits.ts'
import { clearFailures } from '../db/failed-attempts/store.ts'
import type { Deps } from '../deps.ts'
import { attemptSubject, networkOf } from '../lib/attempts.ts'
import { equalSecrets } from '../lib/keys.ts'
import { findPartnerByClientId, type PartnerWithSecrets } from '../registry/partner.ts'
import { PartnerSignInRefused } from './errors.ts'
import { endPartnerSession, startPartnerSession } from './session.ts'

const WINDOW_S = 15 * 60

/** A partner has two live secrets at most; whoever has fewer, or does not exist, is compared with nobody's. */
const MOST_SECRETS = 2
const NOBODYS = { secret_id: '', secret: randomBytes(32).toString('base64url') }

export interface PartnerSignIn {
  readonly clientId: string
  readonly clientSecret: string
  /** Where the request came from. */
  readonly address: string
  /** The id of the session that this sign-in replaces. */
  readonly formerSession?: string | undefined
}

/**
 * Opens a session for clientId and clientSecret (source, "Credentials") and returns its id; throws PartnerSignInRefused.
 * Failures are counted by clientId and by network. Once a limit is reached right and wrong secrets are refused alike,
 * so that a guess is never confirmed.
 */
export async function signInPartner(deps: Deps, input: PartnerSignIn): Promise<string> {
  const { config, keys, db, clock } = deps
  const byClient = {
    subject: attemptSubject(keys, 'partner', input.clientId),
    most: config.SIGN_IN_FAILURES_PER_PASSPORT,
  }
  const byAddress = {
    subject: attemptSubject(keys, 'address', networkOf(input.address)),
    most: config.SIGN_IN_FAILURES_PER_ADDRESS,
  }
  const limits = [byClient, byAddress]
  const partner = await findPartnerByClientId(deps, input.clientId)
  const secretId = liveSecret(partner, input.clientSecret)
  if (!partner || secretId === undefined) {
    const until = await failedOnce(db, limits, clock.now(), WINDOW_S)
    throw new PartnerSignInRefused(until ? 'limited' : 'wrong', until)
  }
  // After the comparison, which costs little: of guesses that race, no more are answered than the limit allows.
  await refuseExhausted(deps, limits)
  await clearFailures(db, byClient.subject)
  if (partner.status !== 'active') throw new PartnerSignInRefused('suspended')
  await endPartnerSession(deps, input.formerSession)
  return startPartnerSession(deps, partner.partner_id, secretId)
}

/** The id of the live secret that was given. Every one is compared, in constant time; as much for a partner unknown. */
function liveSecret(partner: PartnerWithSecrets | undefined, given: string): string | undefined {
  const live = partner?.secrets ?? []
  const compared = [...live, ...Array<typeof NOBODYS>(Math.max(0, MOST_SECRETS - live.length)).fill(NOBODYS)]
  const fits = compared.map(({ secret_id, secret }) => (equalSecrets(secret, given) ? secret_id : ''))
  return fits.find((id) => id !== '')
}

async function refuseExhausted({ db, clock }: Deps, limits: readonly Limit[]): Promise<void> {
  const until = await exhaustedUntil(db, limits, clock.now())
  if (until) throw new PartnerSignInRefused('limited', until)
}
