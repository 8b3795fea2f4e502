import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { jsonFields, type PartnerInterface } from '../../ticketing/interfaces/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import type { Finding, Level } from './checks.ts'
import { shownDetail, shownValue } from './shown-value.ts'

/** What partners of stage sandbox must not do, and live ones may (DECISIONS "Sandbox"). */
export const strictness = (stage: PartnerStage): Level => (stage === 'sandbox' ? 'error' : 'warning')

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

const AN_INTEGER = localized('an-integer')
const A_TEXT = localized('a-text')

/** A PartnerId as text; of one that came as a number, its own digits. */
const textOfId = (given: unknown): LocalizedText =>
  localized('a-text-such-as', { example: `"${/^\d{1,19}$/.test(String(given)) ? given : '7001'}"` })

/** What stands where a text should; a number looks like one. */
const insteadOfText = (value: unknown): Detail =>
  typeof value === 'number' || typeof value === 'bigint'
    ? localized('the-number', { value: shownValue(value) })
    : shownDetail(value)

/** Our own requests send partnerId as a number, so a partner that returns it like this has only copied it. */
const isCopiedNumber = (path: string, value: unknown): boolean =>
  path === 'partnerId' && (typeof value === 'bigint' || Number.isInteger(value))

/** Code, describe and partnerId, of refusals too. A missing code fails the code's check; a numeric partnerId warns. */
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
    actual: path === 'code' ? shownDetail(value) : insteadOfText(value),
    doc: `${name}.answer.${path}`,
  }))
}

/** Words with which programs say that a signature or its clientId is the reason. */
const NAMES_SIGNATURE = /BA|sign|auth|verif|client|credential|签|鉴权|认证|验证|校验/

/** A refused signature should say "BA verification failed"; other words only warn (DECISIONS "Sandbox"). */
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
