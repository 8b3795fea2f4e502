import type { CheckSequence } from '../../platform/lib/failure.ts'
import { readTexts } from '../../platform/lib/root.ts'
import type { Locale } from '../../platform/lib/web/locale.ts'
import { OAUTH_CHECKS } from '../oauth/index.ts'
import { RESOURCE_CHECKS } from '../resource/index.ts'

/** Finds the row of the check sequence (REFERENCE, "order of checks") that refused a request. */

export type Endpoint = 'A1' | 'A2' | 'A3' | 'A4' | 'A5'

export interface RefusingCheck {
  readonly row: number
  readonly check: string
}

export const CHECK_SEQUENCES: Readonly<Record<Endpoint, CheckSequence>> = {
  ...OAUTH_CHECKS,
  ...RESOURCE_CHECKS,
}

const CHINESE = readTexts('checks.zh-CN')

/** A check as text for a page; in the documents it is English Markdown. */
export const checkText = (check: string, locale: Locale): string =>
  ((locale === 'zh-CN' && CHINESE[check]) || check).replace(/ \(\[below\]\([^)]*\)\)/, '').replaceAll('`', '')

interface Refused {
  readonly endpoint: string
  readonly failure: string | null
  readonly detail: string | null
}

/** The row of its endpoint's table that refused it; null if there is none (a server error, the standard dialect). */
export function refusingCheckOf({ endpoint, failure, detail }: Refused): RefusingCheck | null {
  const sequence = Object.entries(CHECK_SEQUENCES).find(([name]) => name === endpoint)?.[1]
  if (!sequence) return null
  // A parameter in the body is missing from the query.
  const isMissing = failure === 'parameter_missing' || failure === 'parameters_in_body'
  const name = isMissing ? `parameter_missing ${detail}` : failure
  const found = Object.entries(sequence).find(([, { failures }]) => name !== null && failures.includes(name))
  return found ? { row: Number(found[0]), check: found[1].check } : null
}
