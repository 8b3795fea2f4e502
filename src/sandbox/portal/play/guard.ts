import type { Deps } from '../../../platform/deps.ts'
import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { findNamedOrder, hasSold } from '../../../ticketing/orders/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { noSuchEntry } from '../errors.ts'
import { obstacleToCall } from '../traffic/replayable.ts'
import { asWritten, type BodyProblem, type OwnBody, readWritten } from './body.ts'
import { obstacleTo, strictBody } from './strict-body.ts'

/** A partner that sells, or has sold: orders of visitors may be named in what it sends. */
export const isSelling = async (deps: Deps, { stage, partner_id }: PartnerWithSecrets): Promise<boolean> =>
  stage === 'live' || hasSold(deps.db, partner_id)

/**
 * What goes out of a text that somebody has written for one of their interfaces, or why nothing does: as it was written
 * while the partner has nothing sold, then only what `strictBody` and `obstacleTo` allow (DECISIONS "Decided about signed calls").
 */
export async function bodyToSend(
  deps: Deps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  written: string,
): Promise<OwnBody | BodyProblem> {
  const { partner_id: partnerId } = partner
  const definition = interfaceNamed(name)
  if (!definition) throw noSuchEntry()
  const read = readWritten(written)
  if ('kind' in read) return read
  if (!(await isSelling(deps, partner))) return asWritten(read, partnerId)
  const body = strictBody(definition, read.value, partnerId)
  if ('kind' in body) return body
  const order = body.orderId === undefined ? undefined : await findNamedOrder(deps.db, body.orderId)
  return obstacleTo(body, order, { partnerId, reads: obstacleToCall(name) === undefined }) ?? body
}
