import { scopeTextKey } from '../../platform/lib/scope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { AccessKind } from '../resource/index.ts'

/** What an app may read, in words, without repetitions. */
export const scopesInWords = (scopes: readonly string[], t: Translate): string =>
  [...new Set(scopes.map(scopeTextKey).filter((key) => t.has(key)))].map((key) => t(key)).join(t('account.between'))

/** "Your phone number 12 times, last on …"; a line feed is the placeholder for the time. */
export function readInWords(kind: AccessKind, reads: number, t: Translate): string {
  const times =
    reads === 1 ? t('account.times.one') : t('account.times.more', { count: reads.toLocaleString(t.locale) })
  return t(kind === 'phone' ? 'account.phone.read' : 'account.profile.read', { times, when: '\n' })
}

/** Kinds of data about a person, in words, with their counts up to `most`; empty kinds are left out. */
export const kindsInWords = (rows: Readonly<Record<string, number>>, most: number, t: Translate): [string, string][] =>
  Object.entries(rows)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => {
      const key = `account.data.${what}`
      const number = count.toLocaleString(t.locale)
      const shown = count < most ? number : t('account.data.at_least', { count: number })
      return [t.has(key) ? t(key) : what.replaceAll('_', ' '), shown]
    })
