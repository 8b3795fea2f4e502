import { z } from 'zod'
import { filterText, momentKey, pageInput, pageOf, periodInput } from '../../../platform/db/page.ts'
import type { Deps } from '../../../platform/deps.ts'
import { masker } from '../../../platform/lib/crypto/masking.ts'
import { problem } from '../../../platform/lib/json/field-problem.ts'
import { positiveId } from '../../../platform/lib/json/fields.ts'
import { operation } from '../../../platform/lib/json/input.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { findPartner, secretTexts } from '../../../ticketing/partners/index.ts'
import { type CursorOfAll, listOfAll, windowOfAll } from './all-partners-store.ts'
import { type TrafficLine, trafficLine } from './list.ts'
import type { TrafficSearch } from './store.ts'
import { trafficEntryParams } from './wire.ts'

const cursor = z.tuple([momentKey, z.guid()])

const allTrafficFilter = z.strictObject({
  partner_id: positiveId.optional(),
  outcome: z.enum(['failed', 'ok']).optional(),
  /** Substring of the path that the partner called, or of the URL that we called. */
  path: filterText(128).optional(),
  code: z
    .string()
    .regex(/^\d{1,9}$/, problem('must-be-code'))
    .optional(),
  ...periodInput,
  ...pageInput(cursor, { usual: 50 }),
})
export type AllTrafficFilter = z.output<typeof allTrafficFilter>

export const oneOfAllTraffic = trafficEntryParams.extend({ partner_id: positiveId })

export interface LineOfAll extends TrafficLine {
  readonly partner_id: bigint
}

/** For operators: partners' texts may contain personal data. */
export const maskedLine = (line: TrafficLine): TrafficLine => ({
  ...line,
  detail: line.detail === null ? null : maskedReason(line.detail),
})

/**
 * Calls in both directions of all partners, newest first. Path, code and outcome have no index, to keep notices cheap
 * (except for failures of one partner): such a search reads a thousand calls at a time, so a page may have few rows or
 * none and still a `next`.
 */
export const listAllTraffic = operation(
  allTrafficFilter,
  async (
    deps: NoticeDeps,
    { partner_id, outcome, path, code, from, to, limit, after }: AllTrafficFilter,
  ): Promise<{ readonly traffic: LineOfAll[]; readonly next: string | null }> => {
    const searches: TrafficSearch[] = [
      ...(path === undefined ? [] : [{ by: 'path', value: path } as const]),
      ...(code === undefined ? [] : [{ by: 'code', value: code } as const]),
    ]
    const filter = { partnerId: partner_id, searches, outcome, from, to }
    const isIndexed = partner_id !== undefined && outcome !== 'ok'
    const isSearch = searches.length > 0 || (outcome !== undefined && !isIndexed)
    const window = isSearch ? await windowOfAll(deps.db, filter, after) : undefined
    const until: CursorOfAll | undefined = window === undefined ? undefined : cursor.parse(JSON.parse(window))
    const { rows, next } = pageOf(await listOfAll(deps.db, filter, after, until, limit + 1), limit, window)
    const masks = await masksOf(deps, [...new Set(rows.map((row) => row.partner_id))])
    const traffic = rows.map((row) => {
      const line = trafficLine(deps, row, masks.get(row.partner_id) ?? ((text) => text))
      return { ...maskedLine(line), partner_id: row.partner_id }
    })
    return { traffic, next }
  },
)

const masksOf = async (deps: Deps, ids: readonly bigint[]): Promise<Map<bigint, (text: string) => string>> =>
  new Map(
    await Promise.all(
      ids.map(async (id) => {
        const partner = await findPartner(deps, id)
        return [id, masker(partner ? secretTexts(partner) : [])] as const
      }),
    ),
  )
