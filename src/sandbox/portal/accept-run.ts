import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { checkAcceptance } from '../certification/index.ts'
import { notifyContacts } from './notify/notify-contacts.ts'

/** Where everybody who knows the address can read and verify the report. */
export const reportUrl = ({ config }: { readonly config: Pick<Config, 'PUBLIC_URL'> }, reportId: string): string =>
  `${config.PUBLIC_URL}/sandbox/verify/${reportId}`

/**
 * The acceptance check. The contacts of the first run that passes are told: the messages are committed with it. They
 * arrange going live once, so a later run does not write to them again.
 */
export const acceptRun = (deps: Deps, partnerId: bigint, runId: string): Promise<OutputOf<typeof checkAcceptance>> =>
  deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    const acceptance = await checkAcceptance(inside, partnerId, runId)
    if (acceptance.justPassed?.isFirst) {
      const { reportId, isFirst: _, ...passed } = acceptance.justPassed
      await notifyContacts(inside, { ...passed, reportUrl: reportUrl(deps, reportId) })
    }
    return acceptance
  })
