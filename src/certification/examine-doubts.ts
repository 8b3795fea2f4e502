import { z } from 'zod'
import { doubtsAbout } from '../catalogue/index.ts'
import type { Db } from '../db/sql.ts'
import { interfaceNamed, readAnswer } from '../interfaces/index.ts'
import { listOf } from '../lib/json/lists.ts'
import { parseLossless } from '../lib/json/lossless.ts'
import type { Finding } from './event.ts'
import type { ExaminedCall } from './examine-http.ts'

const MOST_DOUBTS = 20

const listing = z.looseObject({ body: listOf('prices', z.looseObject({})) })

/**
 * Warnings about values that fit their fields but look like mistakes (DECISIONS "Values that look like mistakes"), such as
 * cents given as yuan. None for an answer that fails the other checks.
 */
export async function doubtFindings(db: Db, call: ExaminedCall): Promise<Finding[]> {
  const entry = interfaceNamed(call.interface)
  if (!entry?.doubts || call.http_status !== 200 || call.response_body === null) return []
  const parsed = parseLossless(Buffer.from(call.response_body))
  const reading = 'value' in parsed ? readAnswer(entry, parsed.value) : undefined
  if (reading?.outcome !== 'success') return []
  const doubts = await doubtsAbout(db, call.partner_id, entry, listing.parse(reading.answer))
  return doubts.slice(0, MOST_DOUBTS).map(({ place, path, problem }) => ({
    id: 'plausible',
    level: 'warning',
    passed: false,
    path: `body[${place}].${path}`,
    actual: problem,
    doc: `${entry.name}.answer.body.${path.replace(/\[\d+\]/g, '')}`,
  }))
}
