import { z } from 'zod'
import { parseLossless } from '../../../platform/lib/json/lossless.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import { INTERFACES, type InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { type NoticeDeps, replayNotice } from '../../../ticketing/mtp/index.ts'
import { findNamedOrder } from '../../../ticketing/orders/index.ts'
import { type CallOptions, callNow, callPartner, type RequestOf } from '../../../ticketing/partner-calls/index.ts'
import { findPartner, type PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { NotReplayable, noSuchEntry } from '../errors.ts'
import { obstacleToCall, obstacleToNotice } from './outcome.ts'
import { findCall, findReceived, type KeptCall, type TrafficKind } from './store.ts'
import type { ReplayedOne, TrafficEntryParams } from './wire.ts'

/** The outcome of a replay, and the entry that shows it. */
export interface Replayed {
  readonly outcome: 'accepted' | 'again' | 'refused' | 'done' | 'failed'
  readonly kind: TrafficKind
  /** Undefined if the refusal was not stored because there were too many. */
  readonly id: string | undefined
}

/**
 * Repeats a call: a notice as if it were sent now, with every check but the signature's, or a call of ours that only
 * reads. Throws 20007 (404), NotReplayable, and 20003 when rate-limited.
 */
export async function replay(deps: NoticeDeps, partnerId: bigint, { kind, id }: TrafficEntryParams): Promise<Replayed> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw noSuchEntry()
  if (kind === 'call') {
    const found = await findCall(deps.db, partnerId, id)
    if (!found) throw noSuchEntry()
    return repeatCall(deps, partner, found)
  }
  const [found] = await findReceived(deps.db, kind, partnerId, [id])
  if (!found) throw noSuchEntry()
  const obstacle = obstacleToNotice(deps, found)
  if (obstacle) throw new NotReplayable(obstacle)
  await countUse(deps, 'replay', partnerId)
  const { path, body, headers } = found
  const result = await replayNotice(deps, partner, { id, path, body, headers: headers ?? undefined })
  if (!result) throw new NotReplayable('not-a-notice')
  return { outcome: result.outcome, kind: result.outcome === 'refused' ? 'rejected' : 'notice', id: result.entryId }
}

async function repeatCall(deps: NoticeDeps, partner: PartnerWithSecrets, found: KeptCall): Promise<Replayed> {
  const obstacle = obstacleToCall(found.interface)
  if (obstacle) throw new NotReplayable(obstacle)
  const entry = INTERFACES.find(({ name }) => name === found.interface)
  const body = bodyIn(found.request_body)
  // If a secret was masked, the stored request may no longer be valid for the interface.
  if (!entry || !fits(entry, body)) throw new NotReplayable('not-whole')
  const about: Pick<CallOptions, 'orderId'> = found.order_id === null ? {} : { orderId: BigInt(found.order_id) }
  // A hand-written call may name any order.
  const named = about.orderId === undefined ? undefined : await findNamedOrder(deps.db, about.orderId)
  if (named && named.partner_id !== partner.partner_id) throw noSuchEntry()
  await countUse(deps, 'replay', partner.partner_id)
  callNow(deps, partner)
  const { outcome, callId } = await callPartner(deps, partner, entry.name, body, {
    cause: { kind: 'replay', ref: found.id },
    ...about,
  })
  return { outcome: outcome === 'failed' ? 'failed' : 'done', kind: 'call', id: callId }
}

const fits = (entry: (typeof INTERFACES)[number], body: unknown): body is RequestOf<InterfaceName> =>
  entry.request.safeParse(body).success

const readRequest = z.object({ value: z.object({ body: z.unknown() }) })

const bodyIn = (request: string): unknown => readRequest.safeParse(parseLossless(Buffer.from(request))).data?.value.body

/** One after the other; entries that cannot be replayed, or exceed the rate limit, do not stop the others. */
export async function replayMany(
  deps: NoticeDeps,
  partnerId: bigint,
  entries: readonly TrafficEntryParams[],
): Promise<ReplayedOne[]> {
  const all: ReplayedOne[] = []
  for (const entry of entries) all.push(await replayOne(deps, partnerId, entry))
  return all
}

async function replayOne(deps: NoticeDeps, partnerId: bigint, entry: TrafficEntryParams): Promise<ReplayedOne> {
  try {
    const { outcome, kind, id } = await replay(deps, partnerId, entry)
    return id === undefined ? { outcome, ...entry } : { outcome, kind, id }
  } catch (error) {
    if (error instanceof NotReplayable) return { outcome: 'impossible', ...entry }
    if (error instanceof RescodeError && error.failure.status === 404) return { outcome: 'gone', ...entry }
    if (error instanceof RescodeError && error.rescode === 20003) return { outcome: 'limited', ...entry }
    throw error
  }
}
