import { readFileSync } from 'node:fs'
import { ROOT } from '../root.ts'
import { acceptedLanguages } from './accept.ts'

/** Languages of the pages, by their own names. */
const LOCALES = { en: 'English', 'zh-CN': '中文' } as const

export type Locale = keyof typeof LOCALES

export const LOCALE_CODES = Object.keys(LOCALES) as Locale[]

const languageOf = (tag: string): string | undefined => tag.toLowerCase().split('-', 1)[0]

/** The most languages that are read from `ui_locales`. */
const MAX_ASKED = 32

/** The first tag that we have, by its primary language: `zh`, `zh-Hant-TW` and `zh-CN` are all Chinese. */
export function supportedLocale(tags: readonly string[]): Locale | undefined {
  for (const tag of tags) {
    const known = LOCALE_CODES.find((code) => languageOf(code) === languageOf(tag))
    if (known) return known
  }
  return undefined
}

export interface LocalePreferences {
  /** `ui_locales` as OpenID Connect has it: tags separated by spaces, best first. */
  readonly asked?: string | undefined
  readonly cookie?: string | undefined
  readonly acceptLanguage?: string | undefined
}

/** What was asked for in the address, else what was chosen earlier, else what the browser prefers, else English. */
export function chooseLocale({ asked = '', cookie = '', acceptLanguage }: LocalePreferences): Locale {
  return supportedLocale([...asked.split(' ', MAX_ASKED), cookie, ...acceptedLanguages(acceptLanguage)]) ?? 'en'
}

type Texts = Readonly<Record<string, string>>

const read = (locale: Locale): Texts => JSON.parse(readFileSync(new URL(`views/locales/${locale}.json`, ROOT), 'utf8'))

const TEXTS = Object.fromEntries(LOCALE_CODES.map((code) => [code, read(code)])) as Record<Locale, Texts>

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/
export const ISOLATES = /[\u2066-\u2069]/g

/** A value that is read from right to left must not turn its neighbours around (Unicode: FSI, PDI). */
const isolated = (value: string): string =>
  RIGHT_TO_LEFT.test(value) ? `\u2068${value.replace(ISOLATES, '')}\u2069` : value

/** Looks a text up and fills its `{names}`; a key that does not exist throws (a test holds views and texts together). */
export interface Translate {
  (key: string, values?: Readonly<Record<string, string>>): string
  readonly locale: Locale
  /** Whether there is such a text, where it may be missing. */
  has(key: string): boolean
}

/** `shown`: what of a value stands in a text. */
export function translator(locale: Locale, shown = (value: string): string => value): Translate {
  const translate = (key: string, values: Readonly<Record<string, string>> = {}): string => {
    const text = TEXTS[locale][key]
    if (text === undefined) throw new Error(`no text '${key}' in ${locale}`)
    return text.replace(/\{(\w+)\}/g, (_whole, name: string) => shown(values[name] ?? ''))
  }
  return Object.assign(translate, { locale, has: (key: string) => key in TEXTS[locale] })
}

/** For pages alone: in mails, files and terminals the characters that isolate a value would be seen. */
export const pageTranslator = (locale: Locale): Translate => translator(locale, isolated)

/** The key of the text for an id: `office.done.` and `add-product` → `office.done.add_product`. */
export const keyOf = (group: string, id: string): string => group + id.replace(/\W/g, '_')

/** A space between a number and a Chinese word, as in all texts; Intl leaves it out. */
const spaced = (text: string): string => text.replace(/(?<=\d)(?=\p{Script=Han})/u, ' ')

/** "in 12 minutes", "12 分钟后": whole minutes, never fewer than one; whole hours where that is two or more. */
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

/** "90 seconds", "7 minutes", "8 hours", "199 days": the largest unit of which there are two, rounded. */
export function amountOfTime(locale: Locale, seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? (['second', 1] as const)
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 })
  return spaced(format.format(seconds / size))
}

/**
 * Links to this page in each language: `ui_locales` replaced in the query, everything else byte for byte. The links are
 * a query only, so they stay on the page's own path whatever that looked like (`//host/…` would lead away).
 */
export function languageLinks(query: string) {
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=', 1)[0] !== 'ui_locales')
  return LOCALE_CODES.map((code) => ({
    code,
    name: LOCALES[code],
    href: `?${[...others, `ui_locales=${code}`].join('&')}`,
  }))
}

/** Made when it is first asked for: it never changes while the process runs. */
export function perLocale<T>(make: (locale: Locale) => T): (locale: Locale) => T {
  const made = new Map<Locale, T>()
  return (locale) => {
    const known = made.get(locale) ?? make(locale)
    made.set(locale, known)
    return known
  }
}
