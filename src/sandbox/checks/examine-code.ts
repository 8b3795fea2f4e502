import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { jsonFields, type PartnerInterface, SUCCESS } from '../../ticketing/interfaces/index.ts'
import { FORGED_DATE_AGE_S, type Forgery } from '../../ticketing/partner-calls/index.ts'
import type { CheckId, ExpectedChecks, Finding, Level } from './checks.ts'
import { shownField, shownValue } from './shown-value.ts'

/** Acceptable codes. `failure`: any code that means neither success nor "not yet". */
export type Codes = readonly number[] | 'failure'

export interface Refusal {
  readonly check: CheckId
  /** The text for a partner that did not refuse; `said` is the code and text of its response. */
  readonly accepted: (said: Detail) => LocalizedText
  /** Its response to the genuine call, if that was no success either: repeating it is no refusal. */
  readonly genuineAnswer?: unknown
  /** The signature or its clientId is wrong, and `describe` has to say so. */
  readonly ofSignature?: boolean
}

interface ForgedCall {
  readonly refusal: Refusal
  readonly expects: ExpectedChecks
}

const forged = (level: Level, refusal: Refusal): ForgedCall => ({ refusal, expects: { [refusal.check]: level } })

/** For each way to forge a call: how it has to be refused, and the level of that check. */
export const FORGED_CALLS: Readonly<Record<Forgery, ForgedCall>> = {
  signature: forged('error', {
    check: 'signature-checked',
    accepted: (said) => localized('accepted-signature', { said }),
    ofSignature: true,
  }),
  /** Only a warning: no seller's program in the field checks the age of the Date. */
  date: forged('warning', {
    check: 'date-checked',
    accepted: (said) => localized('accepted-date', { minutes: FORGED_DATE_AGE_S / 60, said }),
  }),
  /** Only a warning: the signature is right, so nobody else can have sent the call. */
  client: forged('warning', {
    check: 'client-checked',
    accepted: (said) => localized('accepted-client', { said }),
    ofSignature: true,
  }),
}

/** Only a whole number counts as a code. */
const isFailure = ({ pending }: PartnerInterface, json: unknown): boolean => {
  const { code } = jsonFields(json)
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code))
  return isCode && Number(code) !== SUCCESS && !(Number(code) in pending)
}

export function refusalFinding(
  definition: PartnerInterface,
  json: unknown,
  { check, accepted, genuineAnswer }: Refusal,
): Finding {
  const answered = codeAndText(json)
  const isOther = genuineAnswer === undefined || JSON.stringify(answered) !== JSON.stringify(codeAndText(genuineAnswer))
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

function codeAndText(json: unknown): Detail {
  const { describe } = jsonFields(json)
  return describe === undefined
    ? shownField(json, 'code')
    : localized('code-and-text', { code: shownField(json, 'code'), describe: shownValue(describe) })
}

/** Whatever else is wrong with the response. */
export const hasCode = (definition: PartnerInterface, json: unknown, codes: Codes): boolean =>
  codes === 'failure' ? isFailure(definition, json) : codes.includes(Number(jsonFields(json).code))

export function codeFinding(definition: PartnerInterface, json: unknown, codes: Codes): Finding {
  const passed = hasCode(definition, json, codes)
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes === 'failure' ? localized('other-than-200') : codes.join(' / '),
    actual: passed ? shownField(json, 'code') : codeAndText(json),
    doc: `${definition.name}.answer.code`,
  }
}
