import type { PartnerInterface } from '../interfaces/index.ts'
import { said } from '../lib/said.ts'
import type { PartnerWithSecrets } from '../registry/index.ts'
import type { Level } from './checks.ts'
import type { Finding } from './event.ts'
import { jsonFields, shownDetail } from './examine-code.ts'

export type Stage = PartnerWithSecrets['stage']

/** What partners of stage sandbox must not do, and live ones may (DECISIONS "Sandbox"). */
export const strictness = (stage: Stage): Level => (stage === 'sandbox' ? 'error' : 'warning')

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

const A_TEXT = said('a-text')

/**
 * Code, describe and partnerId of an answer, refusals too: an integer and two texts. A code that is missing fails the
 * check of the code.
 */
export function envelopeFindings({ name }: PartnerInterface, json: unknown, stage: Stage): Finding[] {
  const { code, describe, partnerId } = jsonFields(json)
  const fields = [
    { path: 'code', value: code, fits: code === undefined || Number.isInteger(code), expected: said('an-integer') },
    { path: 'describe', value: describe, fits: isText(describe), expected: A_TEXT },
    { path: 'partnerId', value: partnerId, fits: isText(partnerId), expected: A_TEXT },
  ]
  const wrong = fields.filter(({ fits }) => !fits)
  if (wrong.length === 0) return [{ id: 'envelope', passed: true }]
  const level = strictness(stage)
  return wrong.map(({ path, value, expected }) => ({
    ...{ id: 'envelope', passed: false, level, path, expected },
    actual: shownDetail(value),
    doc: `${name}.answer.${path}`,
  }))
}

/** Words with which programs say that a signature or its clientId is the reason. */
const NAMES_SIGNATURE = /BA|sign|auth|verif|client|credential|签|鉴权|认证|验证|校验/

/** A refused signature is told by "BA verification failed"; other words for it are taken (DECISIONS "Sandbox"). */
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
