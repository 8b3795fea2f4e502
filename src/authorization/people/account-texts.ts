import type { Translate } from '../../platform/lib/web/locale.ts'
import type { AccessKind } from '../resource/index.ts'

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

/** "Your phone number 12 times, last on …"; a line feed stands for the time. */
export function readInWords(kind: AccessKind, reads: number, t: Translate): string {
  const times =
    reads === 1 ? t('account.times.one') : t('account.times.more', { count: reads.toLocaleString(t.locale) })
  return t(kind === 'phone' ? 'account.phone.read' : 'account.profile.read', { times, when: '\n' })
}

/** What an export calls each kind of rows, by its text. */
const KINDS: Readonly<Record<string, string>> = {
  codes: 'account.data.codes',
  used_codes: 'account.data.used_codes',
  refresh_tokens: 'account.data.refresh_tokens',
  access_tokens: 'account.data.access_tokens',
  ended_access_tokens: 'account.data.ended_access_tokens',
  consent_decisions: 'account.data.consent_decisions',
  remembered_consents: 'account.data.remembered_consents',
  grants: 'account.data.grants',
  accesses: 'account.data.accesses',
  refused_requests: 'account.data.refused_requests',
  app_events: 'account.data.app_events',
  deletion_requests: 'account.data.deletion_requests',
  team_members: 'account.data.team_members',
  developers: 'account.data.developers',
  sessions: 'account.data.sessions',
  sign_ins: 'account.data.sign_ins',
  passkeys: 'account.data.passkeys',
  recovery_codes: 'account.data.recovery_codes',
  authenticators: 'account.data.authenticators',
  contact_changes: 'account.data.contact_changes',
  password_links: 'account.data.password_links',
  pictures: 'account.data.pictures',
  credentials: 'account.data.credentials',
  profile: 'account.data.profile',
}

/** What there is about a person, in words; kinds of which there is nothing are left out. */
export const kindsInWords = (rows: Readonly<Record<string, number>>, t: Translate): [string, string][] =>
  Object.entries(rows)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => [KINDS[what] ? t(KINDS[what]) : what.replaceAll('_', ' '), count.toLocaleString(t.locale)])
