import { filledText } from '../../platform/lib/json/fields.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { jsonFields, type PartnerInterface } from '../../ticketing/interfaces/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import type { Finding, Level } from './checks.ts'
import { shownDetail, shownField, shownValue } from './shown-value.ts'

/** The level of what only live partners may do (DECISIONS "Decided about signed calls"). */
export const strictness = (stage: PartnerStage): Level => (stage === 'sandbox' ? 'error' : 'warning')

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

const AN_INTEGER = localized('an-integer')
const A_TEXT = localized('a-text')

/** Names the id itself as the example, if it came as a number. */
const textOfId = (given: unknown): LocalizedText =>
  localized('a-text-such-as', { example: `"${/^\d{1,19}$/.exec(filledText(given) ?? '')?.[0] ?? '7001'}"` })

/** Says "the number", because 7001 and "7001" are easily confused. */
const insteadOfText = (value: unknown): LocalizedText | undefined =>
  typeof value === 'number' || typeof value === 'bigint'
    ? localized('the-number', { value: shownValue(value) })
    : undefined

/** Our requests send partnerId as a number, so a partner that returns a number just copied it. */
const isCopiedNumber = (path: string, value: unknown): boolean =>
  path === 'partnerId' && (typeof value === 'bigint' || Number.isInteger(value))

/**
 * Checks code, describe and partnerId, of refusals too. A missing code is left to the check `code`; a numeric partnerId
 * only warns.
 */
export function envelopeFindings({ name }: PartnerInterface, json: unknown, stage: PartnerStage): Finding[] {
  const { code, describe, partnerId } = jsonFields(json)
  const fields = [
    { path: 'code', value: code, fits: code === undefined || Number.isInteger(code), expects: () => AN_INTEGER },
    { path: 'describe', value: describe, fits: isText(describe), expects: () => A_TEXT },
    { path: 'partnerId', value: partnerId, fits: isText(partnerId), expects: textOfId },
  ]
  const wrong = fields.filter(({ fits }) => !fits)
  if (wrong.length === 0) return [{ id: 'envelope', passed: true }]
  return wrong.map(({ path, value, expects }) => ({
    ...{ id: 'envelope', passed: false, path, expected: expects(value) },
    level: isCopiedNumber(path, value) ? 'warning' : strictness(stage),
    actual: (path === 'code' ? undefined : insteadOfText(value)) ?? shownField(json, path),
    doc: `${name}.answer.${path}`,
  }))
}

/** Words by which programs give a signature or its clientId as the reason. */
const NAMES_SIGNATURE = /\bBA(?![a-z])|sign|auth|verif|client|credential|签|鉴权|认证|验证|校验/i

/** Refusing a signature should say "BA verification failed"; texts about anything else are a warning. */
export function reasonFinding({ name }: PartnerInterface, json: unknown): Finding[] {
  const { describe } = jsonFields(json)
  if (!isText(describe) || NAMES_SIGNATURE.test(String(describe))) return []
  return [
    {
      ...{ id: 'refusal-reason', level: 'warning', passed: false, path: 'describe' },
      expected: 'BA verification failed',
      actual: shownDetail(describe),
      doc: `${name}.answer.describe`,
    },
  ]
}
