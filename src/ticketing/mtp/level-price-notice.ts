import { jsonIn } from '../../platform/lib/json/lossless.ts'
import { applyLevelPrices, type Entry } from '../catalogue/index.ts'
import { levelPriceCalendar } from '../interfaces/index.ts'
import { WARNINGS } from '../mws/index.ts'
import { acceptOnce, CATALOGUE_REPEAT_S } from './accept-once.ts'
import type { NoticeKind } from './notice.ts'
import { type LevelPriceNotice, levelPriceNotice } from './wire.ts'

export const LEVEL_PRICES: NoticeKind<LevelPriceNotice> = {
  shape: levelPriceNotice,
  accept: async (deps, notice, sent, { warn }) => {
    const entries = entriesOf(sent.body)
    const isImplausible =
      levelPriceCalendar.implausible !== undefined && levelPriceCalendar.implausible(entries).length > 0
    const { name } = WARNINGS.implausible
    const row = isImplausible ? { ...sent, warnings: [...sent.warnings, name] } : sent
    const accepted = await acceptOnce(deps, row, CATALOGUE_REPEAT_S, (inside, cause) =>
      applyLevelPrices(inside, row.partnerId, { ...notice, entries }, cause),
    )
    if (isImplausible) warn?.(name, { partnerDealId: notice.partnerDealId })
    return accepted
  },
}

/** As received: what a pull of the same calendar would store. */
function entriesOf(body: string): readonly Entry[] {
  return (jsonIn(body) as { body: Entry[] } | undefined)?.body ?? []
}
