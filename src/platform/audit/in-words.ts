import { readFileSync } from 'node:fs'
import { ROOT } from '../lib/root.ts'
import type { Locale } from '../lib/web/locale.ts'

const CHINESE: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('views/locales/events.zh-CN.json', ROOT), 'utf8'),
)

const ABBREVIATIONS: readonly (readonly [RegExp, string])[] = [
  [/\btotp\b/, 'authenticator'],
  [/\baes\b/, 'AES'],
]

/** What an event of the audit log is called on pages: `App secret rotated` of `app_secret_rotated`. */
export function eventInWords(event: string, locale: Locale): string {
  const chinese = locale === 'zh-CN' ? CHINESE[event] : undefined
  if (chinese) return chinese
  const words = ABBREVIATIONS.reduce((text, [short, long]) => text.replace(short, long), event.replaceAll('_', ' '))
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
