import type { Translate } from '../lib/web/locale.ts'
import { deviceOf } from './device.ts'

/** Scopes of both dialects by their texts. */
const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  USER_INFO: 'scope.user_info',
  profile: 'scope.user_info',
  PHONE_NUMBER: 'scope.phone_number',
  phone: 'scope.phone_number',
  openid: 'scope.openid',
  offline_access: 'scope.offline_access',
}

/** What an app may learn, in words; each once. */
export const scopesInWords = (scopes: readonly string[], t: Translate): string =>
  [...new Set(scopes.flatMap((scope) => (SCOPE_TEXTS[scope] ? [t(SCOPE_TEXTS[scope])] : [])))].join(
    t('account.between'),
  )

/** "Chrome on Windows". */
export function deviceInWords(userAgent: string | null, t: Translate): string {
  const { browser, system } = deviceOf(userAgent)
  if (browser && system) return t('account.device.both', { browser, system })
  return browser ?? system ?? t('account.device.unknown')
}

export const times = (count: number, t: Translate): string =>
  count === 1 ? t('account.times.one') : t('account.times.more', { count: count.toLocaleString(t.locale) })
