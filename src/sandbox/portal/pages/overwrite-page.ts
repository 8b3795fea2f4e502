import type { Deps } from '../../../platform/deps.ts'
import { progressOfRun, type Run, showRun } from '../../certification/index.ts'
import { conditionFields } from './conditions-form.ts'
import type { FormTexts } from './functions-form.ts'

/** Asks whether a run may be overwritten; carries the form along. */
export interface OverwritePage {
  readonly runId: string
  readonly number: number
  readonly passed: number
  readonly steps: number
  readonly isPassed: boolean
  /** The form's fields, to be sent again. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export async function overwritePage(deps: Deps, run: Run, form: FormTexts): Promise<OverwritePage> {
  const { passed, steps } = progressOfRun(await showRun(deps, run.partner_id, run.run_id))
  return {
    runId: run.run_id,
    number: run.number,
    passed,
    steps,
    isPassed: run.passed_at !== null,
    fields: [
      ...form.functions.map((id) => ['functions', id] as const),
      ...Object.entries(form.products),
      ['travel_date', form.travel_date],
      ['unit_price', form.unit_price],
      ['buy_price', form.buy_price],
      ['quantity', form.quantity],
      ['base_url', form.base_url],
      ...conditionFields(form.conditions),
      ...Object.entries(form.contacts),
      ...Object.entries(form.interface_urls).map(([name, url]) => [`url.${name}`, url] as const),
    ],
  }
}
