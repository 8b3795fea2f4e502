import { randomUUID } from 'node:crypto'
import type { Deps } from '../../src/platform/deps.ts'
import { sha256 } from '../../src/platform/lib/crypto/digest.ts'
import { acceptConsumption } from '../../src/ticketing/mtp/consumption.ts'
import type { ConsumptionReport } from '../../src/ticketing/orders/consumption.ts'

/** Handles the report like a correctly signed notice of a live partner; each call counts as a new notice. */
export async function reportConsumption(deps: Deps, partnerId: bigint, report: ConsumptionReport): Promise<void> {
  const noticeId = randomUUID()
  const row = {
    noticeId,
    clientId: `client-${partnerId}`,
    path: '/mtp/api/order/consume/notice',
    bodyHash: sha256(noticeId),
    partnerId,
    receivedAt: deps.clock.now(),
    body: '{}',
    answer: '{}',
    warnings: [],
  }
  await acceptConsumption(deps.db, row, report, 'live')
}
