import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { jsonFields, type PartnerInterface, SUCCESS } from '../../ticketing/interfaces/index.ts'
import { FORGED_DATE_AGE_S, type Forgery } from '../../ticketing/partner-calls/index.ts'
import type { CheckId, ExpectedChecks, Finding } from './checks.ts'
import { shownDetail, shownValue } from './shown-value.ts'

/** Codes that an answer may have. `failure`: any that means neither success nor "not yet". */
export type Codes = readonly number[] | 'failure'

export interface Refusal {
  readonly check: CheckId
  /** How the log describes a partner that did not refuse; gets the code that it answered with as `said`. */
  readonly accepted: (said: Detail) => LocalizedText
  /** Its answer to the same call correctly made, if that was no success either: the same answer again is no refusal. */
  readonly honest?: unknown
  /** The signature or its clientId is wrong, and `describe` has to say so. */
  readonly ofSignature?: boolean
}

/** How a call that was forged in this way has to be refused, and the level of the check that it was. */
export const REFUSAL_OF = {
  signature: {
    refusal: {
      check: 'signature-checked',
      accepted: (said) => localized('accepted-signature', { said }),
      ofSignature: true,
    },
    expects: { 'signature-checked': 'error' },
  },
  /** A warning only: no seller's program in the field looks at the age of the Date. */
  date: {
    refusal: {
      check: 'date-checked',
      accepted: (said) => localized('accepted-date', { minutes: FORGED_DATE_AGE_S / 60, said }),
    },
    expects: { 'date-checked': 'warning' },
  },
  /** A warning only: the signature is right, so nobody else can have sent the call. */
  client: {
    refusal: { check: 'client-checked', accepted: (said) => localized('accepted-client', { said }), ofSignature: true },
    expects: { 'client-checked': 'warning' },
  },
} as const satisfies Record<Forgery, { readonly refusal: Refusal; readonly expects: ExpectedChecks }>

/** Whether the answer has a failure code. Only a whole number is a code. */
const isFailure = ({ pending }: PartnerInterface, json: unknown): boolean => {
  const { code } = jsonFields(json)
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code))
  return isCode && Number(code) !== SUCCESS && !(Number(code) in pending)
}

export function refusalFinding(
  definition: PartnerInterface,
  json: unknown,
  { check, accepted, honest }: Refusal,
): Finding {
  const answered = saidIn(json)
  const isOther = honest === undefined || JSON.stringify(answered) !== JSON.stringify(saidIn(honest))
  const passed = isFailure(definition, json) && isOther
  return {
    id: check,
    passed,
    path: 'code',
    expected: localized('any-refusal'),
    actual: passed ? answered : accepted(answered),
    doc: `${definition.name}.answer.code`,
  }
}

function saidIn(json: unknown): Detail {
  const { code, describe } = jsonFields(json)
  return describe === undefined
    ? shownDetail(code)
    : localized('code-and-text', { code: shownDetail(code), describe: shownValue(describe) })
}

/** Whether the answer has one of these codes, whatever else is wrong with it. */
export const hasCode = (definition: PartnerInterface, json: unknown, codes: Codes): boolean =>
  codes === 'failure' ? isFailure(definition, json) : codes.includes(Number(jsonFields(json).code))

export function codeFinding(definition: PartnerInterface, json: unknown, codes: Codes): Finding {
  const passed = hasCode(definition, json, codes)
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes === 'failure' ? localized('other-than-200') : codes.join(' / '),
    actual: passed ? shownDetail(jsonFields(json).code) : saidIn(json),
    doc: `${definition.name}.answer.code`,
  }
}
