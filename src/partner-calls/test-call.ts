import { findPartner, type PartnerWithSecrets, type TestCallWith } from '../partners/index.ts'
import { callPartner } from './call-partner.ts'

/** A heartbeat that is signed with a new secret: whether the partner accepts it before our calls are signed with it. */
export const heartbeatWith: TestCallWith =
  (deps) =>
  async (partner, { secret }) => {
    const known: PartnerWithSecrets = (await findPartner(deps, partner.partner_id)) ?? {
      ...partner,
      secrets: [],
      aes_key: null,
    }
    const result = await callPartner(deps, known, 'heartbeat', {}, { secret })
    if (result.outcome === 'failed') return { ok: false, detail: `${result.failure.kind}: ${result.failure.detail}` }
    return { ok: result.outcome === 'success', detail: result.outcome }
  }
