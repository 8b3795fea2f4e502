import { type Deps, inTransaction } from '../../../platform/deps.ts'
import { rotation } from '../../../platform/lib/crypto/generated-secret.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import { MemberRefusal, requireOwner } from '../../../ticketing/members/index.ts'
import { heartbeatWith } from '../../../ticketing/partner-calls/index.ts'
import {
  lockPartner,
  retireSecret,
  rotatePartnerSecret,
  showPartner,
  switchSigning,
} from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'

/** `changed`: not the secrets that the page showed. `test_failed`: the partner refused a call signed with the new. */
export const SECRET_REFUSALS = ['changed', 'test_failed'] as const

export class SecretRefusal extends Error {
  override readonly name = 'SecretRefusal'
  readonly reason: (typeof SECRET_REFUSALS)[number]
  /** For the log; contains no secret. */
  readonly detail: string

  constructor(reason: SecretRefusal['reason'], detail: string = reason) {
    super(`clientSecret not changed: ${reason}`)
    this.reason = reason
    this.detail = detail
  }
}

/** The only reason for a refusal here is that the secrets have changed meanwhile. */
function asChanged(error: unknown): never {
  const isOfSecrets = error instanceof RescodeError && error.rescode === 20007 && !(error instanceof MemberRefusal)
  throw isOfSecrets ? new SecretRefusal('changed') : error
}

/**
 * Issues a new clientSecret, for owners only. `replaces` is the id of the newest secret that the page showed, so a form
 * sent twice issues one secret only. Throws SecretRefusal, MemberRefusal.
 */
export async function rotateOwnSecret(deps: Deps, partnerId: bigint, replaces: string): Promise<string> {
  await countUse(deps, 'rotation', partnerId)
  return inTransaction(deps, async (inside) => {
    await lockPartner(inside, partnerId)
    await requireOwner(inside, partnerId)
    const { secrets } = await showPartner(inside, partnerId)
    if (secrets[0]?.secret_id !== replaces) throw new SecretRefusal('changed')
    return (await rotatePartnerSecret(inside, partnerId, rotation.parse({}))).client_secret
  })
}

/** Switches the signing of our calls to the newest secret, if a test call with it succeeds. Throws as above. */
export async function signWithNewest(deps: RunDeps, partnerId: bigint): Promise<void> {
  await countUse(deps, 'rotation', partnerId)
  const authorize = (by: Deps) => requireOwner(by, partnerId)
  await authorize(deps) // before the test call, and again after it
  const testCall = heartbeatWith(deps)
  let failed: string | undefined
  const trial: ReturnType<typeof heartbeatWith> = async (partner, secret) => {
    const result = await testCall(partner, secret)
    if (!result.ok) failed = String(result.detail)
    return result
  }
  try {
    await switchSigning(deps, partnerId, trial, authorize)
  } catch (error) {
    if (failed !== undefined) throw new SecretRefusal('test_failed', failed)
    asChanged(error)
  }
}

/** Ends the old secret at once. Throws as above. */
export const endOldSecret = (deps: Deps, partnerId: bigint): Promise<unknown> =>
  inTransaction(deps, async (inside) => {
    await lockPartner(inside, partnerId)
    await requireOwner(inside, partnerId)
    return retireSecret(inside, partnerId).catch(asChanged)
  })
