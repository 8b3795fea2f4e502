import { type Detail, filled, TEXTS, type TextId } from '../localized-text.ts'
import { readTexts } from '../root.ts'
import type { Locale, Translate } from './locale.ts'
import type { Problem } from './rescode.ts'

export const WORDS: Readonly<Record<Locale, Readonly<Partial<Record<TextId, string>>>>> = {
  en: TEXTS,
  'zh-CN': readTexts('reasons.zh-CN'),
}

/** A text in the reader's language. */
export const worded = (text: Detail, t: Translate): string =>
  typeof text === 'string' ? text : filled(text, WORDS[t.locale][text.id], (value) => worded(value, t))

/** Splits `hosts[1]` or `reasons.USER_INFO` into a field's name, the entry's number, and what is inside. */
const PLACE = /^([^.[]*)(?:\[(\d+)\])?\.?(.*)$/

/**
 * Fields' problems as a page shows them; `labelOf` gives its label for a field, undefined for one that it does not show.
 * The label is empty if a problem concerns the whole form.
 */
export const shownProblems = (
  problems: readonly Problem[],
  t: Translate,
  labelOf: (name: string) => string | undefined,
) =>
  problems.map(({ field, problem }) => {
    const [, name = '', entry, inside] = labelOf(field) === undefined ? (PLACE.exec(field) ?? []) : [field, field]
    const label = labelOf(name) ?? (name === 'body' ? '' : name)
    const which = entry === undefined ? label : t('problem.entry', { label, entry: String(Number(entry) + 1) })
    return { label: inside ? t('layout.pair', { label: which, value: inside }) : which, problem: worded(problem, t) }
  })
export type ShownProblem = ReturnType<typeof shownProblems>[number]
