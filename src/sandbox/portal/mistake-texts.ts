import { readFileSync } from 'node:fs'
import { ROOT } from '../../platform/lib/root.ts'
import type { Locale } from '../../platform/lib/web/locale.ts'
import { MISTAKES, WARNINGS } from '../../ticketing/mws/index.ts'

/** English texts come from the diagnosis (src/ticketing/mws/diagnose), Chinese ones from views/locales. */
const TEXTS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: Object.fromEntries([...MISTAKES, ...Object.values(WARNINGS)].map(({ name, explanation }) => [name, explanation])),
  'zh-CN': JSON.parse(readFileSync(new URL('views/locales/mistakes.zh-CN.json', ROOT), 'utf8')),
}

/** What a mistake of a signature is and how to fix it, in the reader's language. */
export const explainMistake = (locale: Locale, name: string): string => TEXTS[locale][name] ?? name
