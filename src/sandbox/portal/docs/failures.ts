import type { z } from 'zod'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { problemsText, readShape } from '../../../platform/lib/json/shape.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import type { PartnerInterface } from '../../../ticketing/interfaces/index.ts'
import { BA_FAILED, failureCodeOf } from '../../../ticketing/mws-wire/index.ts'
import { codeMeaning, exampleFor } from './meanings/index.ts'

/** A response that reports a failure, or that the result is still to come. */
export interface FailureExample {
  /** When it is sent, in the reader's language. */
  readonly when: string
  readonly example: string
}

const PARTNER_ID = String(exampleFor('answer.partnerId'))

const answer = (code: number, describe: string): string => prettyLossless({ code, describe, partnerId: PARTNER_ID })

/** What a partner answers instead of success: each code of the interface. */
export function partnerFailures({ pending, failures }: PartnerInterface, locale: Locale): FailureExample[] {
  return [...Object.entries(pending), ...Object.entries(failures)].map(([code, meaning]) => ({
    when: codeMeaning(meaning, locale),
    example: answer(Number(code), meaning),
  }))
}

/** What the platform answers to a call with a wrong signature, and to a notice without one of its fields. */
export function ourRefusals(
  path: string,
  shape: z.ZodType,
  notice: Readonly<Record<string, unknown>>,
  locale: Locale,
): FailureExample[] {
  const t = translator(locale)
  const { body: _, ...withoutBody } = notice
  const read = readShape(shape, withoutBody)
  const problem = 'problems' in read ? String(problemsText(read.problems)) : ''
  return [
    { when: t('sandbox.docs.when_signature'), example: answer(300, BA_FAILED) },
    { when: t('sandbox.docs.when_field'), example: answer(failureCodeOf(path), problem) },
  ]
}
