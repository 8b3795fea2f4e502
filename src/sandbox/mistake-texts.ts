import { readFileSync } from 'node:fs'
import type { Locale } from '../lib/web/locale.ts'
import { MISTAKES } from '../mtp/diagnose/index.ts'
import { WARNINGS } from '../mtp/diagnose/warnings.ts'

/** The English texts stand with the mistakes (src/mtp/diagnose), the Chinese ones with the texts of the pages. */
const TEXTS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: Object.fromEntries([...MISTAKES, ...Object.values(WARNINGS)].map(({ name, explanation }) => [name, explanation])),
  'zh-CN': JSON.parse(readFileSync(new URL('../../views/locales/mistakes.zh-CN.json', import.meta.url), 'utf8')),
}

/** What is wrong with a signature and how to correct it, in the reader's language. */
export const explainMistake = (locale: Locale, name: string): string => TEXTS[locale][name] ?? name
