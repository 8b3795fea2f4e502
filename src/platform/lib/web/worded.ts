import { readFileSync } from 'node:fs'
import { type Detail, filled, TEXTS, type TextId } from '../localized-text.ts'
import { ROOT } from '../root.ts'
import type { Locale, Translate } from './locale.ts'
import type { Problem } from './rescode.ts'

export const WORDS: Readonly<Record<Locale, Readonly<Partial<Record<TextId, string>>>>> = {
  en: TEXTS,
  'zh-CN': JSON.parse(readFileSync(new URL('views/locales/reasons.zh-CN.json', ROOT), 'utf8')),
}

/** A text in the reader's language. */
export const worded = (text: Detail, t: Translate): string =>
  typeof text === 'string' ? text : filled(text, WORDS[t.locale][text.id], (value) => worded(value, t))

/** What is wrong with one field, as a page shows it. */
export interface ShownProblem {
  /** Empty where it is about all of the form. */
  readonly label: string
  readonly problem: string
}

/** `hosts[1]`, `reasons.USER_INFO`: the name of a field, which of its entries, and what is in it. */
const PLACE = /^([^.[]*)(?:\[(\d+)\])?\.?(.*)$/

/** `labelOf`: what the page calls a field, or what is in it; undefined for what it does not show. */
export function shownProblems(
  problems: readonly Problem[],
  t: Translate,
  labelOf: (name: string) => string | undefined,
): ShownProblem[] {
  return problems.map(({ field, problem }) => {
    const [, name = '', entry, inside] = labelOf(field) === undefined ? (PLACE.exec(field) ?? []) : [field, field]
    const label = labelOf(name) ?? (name === 'body' ? '' : name)
    const which = entry === undefined ? label : t('problem.entry', { label, entry: String(Number(entry) + 1) })
    return { label: inside ? t('layout.pair', { label: which, value: inside }) : which, problem: worded(problem, t) }
  })
}
