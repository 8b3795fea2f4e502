import type { Translate } from '../../../platform/lib/web/locale.ts'
import { detailText } from '../texts.ts'
import type { BodyProblem } from './body.ts'
import type { Action, ExpectedOutcome, PLAY_ORDER_FIELDS, PlaySigning } from './wire.ts'

/** Texts of the pages of the playground for the values that operations take and return. */

const SIGNS = {
  right: 'sandbox.play.sign_right',
  signature: 'sandbox.play.sign_signature',
  date: 'sandbox.play.sign_date',
  client: 'sandbox.play.sign_client',
} as const satisfies Record<PlaySigning, string>

const OUTCOME_TEXTS = {
  success: 'sandbox.play.expect_success',
  later: 'sandbox.play.expect_later',
  either: 'sandbox.play.expect_either',
  failure: 'sandbox.play.expect_failure',
} as const satisfies Record<ExpectedOutcome, string>

const ACTED = {
  pay: 'sandbox.play.action_pay',
  query: 'sandbox.play.action_query',
  refund: 'sandbox.play.action_refund',
  close: 'sandbox.play.action_close',
} as const satisfies Record<Action, string>

const PROBLEMS = {
  json: 'sandbox.play.problem_json',
  'not-an-object': 'sandbox.play.problem_object',
  'too-long': 'sandbox.play.problem_too_long',
  fields: 'sandbox.play.problem_fields',
  'sold-order': 'sandbox.play.problem_sold',
  'unknown-order': 'sandbox.play.problem_unknown_order',
} as const satisfies Record<BodyProblem['kind'], string>

const FIELDS = {
  product: 'sandbox.play.problem_product',
  quantity: 'sandbox.play.problem_quantity',
  travel_date: 'sandbox.play.problem_date',
  unit_price: 'sandbox.play.problem_price',
  buy_price: 'sandbox.play.problem_price',
} as const satisfies Record<(typeof PLAY_ORDER_FIELDS)[number], string>

export const signText = (sign: PlaySigning, t: Translate): string => t(SIGNS[sign])

/** `codes`: those that mean "not yet". */
export const outcomeText = (expectedOutcome: ExpectedOutcome, codes: readonly number[], t: Translate): string =>
  t(OUTCOME_TEXTS[expectedOutcome], { codes: codes.join(' / ') })

export const actionText = (action: Action, t: Translate): string => t(ACTED[action])

export const problemText = (problem: BodyProblem, t: Translate): string =>
  t(PROBLEMS[problem.kind], { problem: 'detail' in problem ? detailText(problem.detail, t) : '' })

export const fieldProblem = (field: keyof typeof FIELDS, t: Translate): string => t(FIELDS[field])
