import { readTexts } from '../root.ts'
import { acceptedLanguages } from './accept.ts'

/** Languages of the pages, each with its own name for itself. */
const LOCALES = { en: 'English', 'zh-CN': '中文' } as const

export type Locale = keyof typeof LOCALES

export const LOCALE_CODES = Object.keys(LOCALES) as Locale[]

const languageOf = (tag: string): string | undefined => tag.toLowerCase().split('-', 1)[0]

const MAX_ASKED = 32

/** The first supported tag, by its primary language: `zh`, `zh-Hant-TW` and `zh-CN` are all Chinese. */
export function supportedLocale(tags: readonly string[]): Locale | undefined {
  for (const tag of tags) {
    const known = LOCALE_CODES.find((code) => languageOf(code) === languageOf(tag))
    if (known) return known
  }
  return undefined
}

type Wish = 'asked' | 'cookie' | 'acceptLanguage'

/** The language of the URL's `ui_locales` (`asked`), else the one chosen earlier, else the browser's, else English. */
export const chooseLocale = ({ asked = '', cookie = '', acceptLanguage }: { [Name in Wish]?: string | undefined }) =>
  supportedLocale([...asked.split(' ', MAX_ASKED), cookie, ...acceptedLanguages(acceptLanguage)]) ?? 'en'

const TEXTS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: readTexts('en'),
  'zh-CN': readTexts('zh-CN'),
}

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/
export const ISOLATES = /[\u2066-\u2069]/g

/** Isolates right-to-left values, so that they do not reorder the text around them (Unicode: FSI, PDI). */
const isolated = (value: string): string =>
  RIGHT_TO_LEFT.test(value) ? `\u2068${value.replace(ISOLATES, '')}\u2069` : value

/** Looks up a text and fills in its `{names}`; throws for an unknown key (a test compares views and texts). */
export interface Translate {
  (key: string, values?: Readonly<Record<string, string>>): string
  readonly locale: Locale
  /** Whether there is such a text, for keys that may be missing. */
  has(key: string): boolean
}

/** `shown` transforms values before they are filled in. */
export function translator(locale: Locale, shown = (value: string): string => value): Translate {
  const translate = (key: string, values: Readonly<Record<string, string>> = {}): string => {
    const text = TEXTS[locale][key]
    if (text === undefined) throw new Error(`no text '${key}' in ${locale}`)
    return text.replace(/\{(\w+)\}/g, (_whole, name: string) => shown(values[name] ?? ''))
  }
  return Object.assign(translate, { locale, has: (key: string) => key in TEXTS[locale] })
}

/** For pages only: in mails, files and terminals the isolating characters would be visible. */
export const pageTranslator = (locale: Locale): Translate => translator(locale, isolated)

/** The key of the text for an id: `office.done.` and `add-product` → `office.done.add_product`. */
export const keyOf = (group: string, id: string): string => group + id.replace(/\W/g, '_')

/** Adds the space between number and Chinese word that all our texts have and Intl leaves out. */
const spaced = (text: string): string => text.replace(/(?<=\d)(?=\p{Script=Han})/u, ' ')

/** "in 12 minutes", "12 分钟后": whole minutes, at least one; from two hours on, whole hours. */
export function inMinutes(locale: Locale, seconds: number): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'always' })
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  return spaced(minutes < 120 ? format.format(minutes, 'minute') : format.format(Math.ceil(minutes / 60), 'hour'))
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** "90 seconds", "7 minutes", "8 hours", "199 days": rounded, in the largest unit of which there are at least two. */
export function amountOfTime(locale: Locale, seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? (['second', 1] as const)
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 })
  return spaced(format.format(seconds / size))
}

/** Links to this page in each language, of a query only: a path such as `//host/…` would lead away. */
export function languageLinks(query: string) {
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=', 1)[0] !== 'ui_locales')
  return LOCALE_CODES.map((code) => ({
    code,
    name: LOCALES[code],
    href: `?${[...others, `ui_locales=${code}`].join('&')}`,
  }))
}

export function perLocale<T>(make: (locale: Locale) => T): (locale: Locale) => T {
  const made = new Map<Locale, T>()
  return (locale) => {
    const known = made.get(locale) ?? make(locale)
    made.set(locale, known)
    return known
  }
}
