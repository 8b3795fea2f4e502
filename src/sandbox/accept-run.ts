import { checkAcceptance } from '../certification/index.ts'
import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { notifyContacts } from './notify/notify-contacts.ts'

/** Where everybody who knows the address can read and verify the report. */
export const reportUrl = ({ config }: { readonly config: Pick<Config, 'PUBLIC_URL'> }, reportId: string): string =>
  `${config.PUBLIC_URL}/sandbox/verify/${reportId}`

/** The acceptance check. The contacts of a run that has just passed are told: the messages are committed with it. */
export const acceptRun = (deps: Deps, partnerId: bigint, runId: string): Promise<OutputOf<typeof checkAcceptance>> =>
  deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    const found = await checkAcceptance(inside, partnerId, runId)
    if (found.justPassed) {
      const { reportId, ...passed } = found.justPassed
      await notifyContacts(inside, { ...passed, reportUrl: reportUrl(deps, reportId) })
    }
    return found
  })
