import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import { type Detail, localized, withValues } from '../../platform/lib/localized-text.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changePartner, requirePartner } from './change.ts'
import type { PartnerWithSecrets } from './partner.ts'
import * as store from './secret-store.ts'
import { openAesKey, openSecret, type PartnerSecret, type PartnerWithSealed, sealSecret } from './store.ts'
import type { ShownPartner } from './wire.ts'

/** Calls the partner, signing with this secret. `detail` is for operators and holds no secret. */
export type TestCall = (partner: PartnerWithSecrets, secret: PartnerSecret) => Promise<{ ok: boolean; detail: Detail }>

/** Makes a test call; passed in because this room does not know the room that calls partners. */
export type TestCallWith<Given extends Deps = Deps> = (deps: Given) => TestCall

/**
 * Adds a new clientSecret. From now on it verifies the partner's calls, beside the one that signs ours; any other
 * secret ends. Our calls stay signed with the current one until `switchSigning`, after which it works for `overlap_s`
 * more seconds.
 */
export async function rotatePartnerSecret(
  deps: Deps,
  partnerId: bigint,
  { overlap_s }: SecretRotation,
): Promise<ShownPartner & { client_secret: string }> {
  const client_secret = generateSecret('ghcs')
  const next = { ...sealSecret(deps.keys, partnerId, client_secret), signs: false, overlap_s }
  const partner = await changePartner(deps, partnerId, 'partner_secret_rotated', async ({ db }, now) => {
    await store.deleteOthers(db, partnerId)
    await store.insertSecret(db, partnerId, next, now)
    return { secret_id: next.secret_id, overlap_s }
  })
  return { ...partner, client_secret }
}

/**
 * Signs our calls with the newest secret from now on, if the test call with it passes; the previous one gets an end.
 * Without `testCall` at once: a stolen secret has to end too if the partner cannot be called. Only the newest must be
 * decrypted, so this also helps if an older one cannot be. `admit` runs in the transaction of the change and throws if the
 * caller may no longer do this.
 */
export async function switchSigning(
  deps: Deps,
  partnerId: bigint,
  testCall: TestCall | undefined,
  admit?: (inside: Deps) => Promise<void>,
): Promise<ShownPartner> {
  const partner = await requirePartner(deps, partnerId)
  const newest = partner.secrets.find(({ signs }) => !signs)
  if (newest === undefined || newest.ends_at !== null) throw new RefusedRequest(localized('signs-already'))
  // Outside the transaction, because a partner may be slow.
  const tested = await testCall?.(openable(deps, partner), openSecret(deps.keys, partnerId, newest))
  if (tested?.ok === false)
    throw new RefusedRequest(localized('test-call-failed', { problem: withValues(tested.detail, echo) }))
  return changePartner(deps, partnerId, 'partner_signing_switched', async (inside, now) => {
    await admit?.(inside)
    const { db } = inside
    const overlap_s = await store.findOverlap(db, partnerId, newest.secret_id)
    if (overlap_s === undefined) throw new RefusedRequest(localized('rotated-meanwhile'))
    await store.moveSigning(db, partnerId, newest.secret_id, addSeconds(now, overlap_s))
    return { secret_id: newest.secret_id, ...(testCall ? {} : { untested: true }) }
  })
}

/** The partner with those of its secrets that can still be decrypted. */
const openable = ({ keys }: Deps, { secrets, aes_key, ...partner }: PartnerWithSealed): PartnerWithSecrets => ({
  ...partner,
  secrets: secrets.flatMap((sealed) => readOr(() => [openSecret(keys, partner.partner_id, sealed)], [])),
  aes_key: aes_key && readOr(() => openAesKey(keys, partner.partner_id, aes_key), null),
})

/** Ends the old secret now instead of after its overlap. The one that signs our calls cannot end. */
export const retireSecret = (deps: Deps, partnerId: bigint): Promise<ShownPartner> =>
  changePartner(deps, partnerId, 'partner_secret_retired', async (inside, now) => {
    const [, old] = (await requirePartner(inside, partnerId)).secrets
    if (old === undefined) throw new RefusedRequest(localized('no-old-secret'))
    if (old.signs) throw new RefusedRequest(localized('old-secret-signs'))
    await store.endSecret(inside.db, partnerId, old.secret_id, now)
    return { secret_id: old.secret_id }
  })
