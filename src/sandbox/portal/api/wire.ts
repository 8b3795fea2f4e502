import { z } from 'zod'
import { maybe, numericText } from '../../../platform/lib/json/fields.ts'
import { choice, conditions } from '../../test-plan/index.ts'
import { contactsGiven } from '../contacts.ts'

/** POST /sandbox/api/runs: what a person chooses on the functions page. */
export const newRun = z.looseObject({
  partnerId: maybe(numericText()),
  /** Allows replacing a run that is under way. */
  overwrite: z.boolean().default(false),
  body: choice,
})
export type NewRun = z.output<typeof newRun>

/** POST /sandbox/api/contacts: the contacts to set. */
export const newContacts = z.looseObject({ partnerId: maybe(numericText()), body: contactsGiven })

/** POST /sandbox/api/runs/{run_id}/conditions: omitted ones are reset. */
export const newConditions = z.looseObject({ partnerId: maybe(numericText()), body: conditions })

/** Stands for the current run's id in URLs: a script may not know it. */
export const PRESENT = 'present'

const MAX_WAIT_S = 30

/** GET …/events: lines after `after`; `wait`: seconds to wait for the first one. */
export const eventsQuery = z.object({
  after: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  wait: z.coerce.number().min(0).max(MAX_WAIT_S).default(0),
})
