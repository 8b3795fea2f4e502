import { SETTINGS_IN_FORCE } from '../permissions.ts'
import type { Asking, Cell, Section } from '../shown.ts'
import { code, text } from '../texts.ts'

/** Names of settings whose texts are never shown. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|HEADERS|CREDENTIAL/

/** `postgres://user:word@host/name?password=word` without user, word and query; such parts may stand in any setting. */
const withoutUser = (value: string): string =>
  value.replace(/(:\/\/)[^/?#\s]*@/g, '$1***@').replace(/(:\/\/[^?#\s]*)\?[^#\s"]*/g, '$1?***')

export function settingCell(name: string, value: unknown, t: Asking['t']): Cell {
  const empty = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
  if (empty) return text(t('console.settings.unset'))
  if (typeof value === 'number' || typeof value === 'boolean') return code(String(value))
  if (SECRET.test(name)) return text(t('console.settings.secret'))
  const written = typeof value === 'string' ? value : JSON.stringify(value)
  return code(withoutUser(written))
}

export const settings: Section = {
  id: 'settings',
  title: 'console.settings.title',
  operation: SETTINGS_IN_FORCE,
  lists: [
    {
      path: '/settings',
      operation: SETTINGS_IN_FORCE,
      title: 'console.settings.title',
      lead: 'console.settings.lead',
      filters: () => [],
      read: async ({ deps, t }) => ({
        table: {
          head: [t('console.field.setting'), t('console.field.value')],
          rows: Object.entries(deps.config)
            .filter(([name]) => /^[A-Z]/.test(name))
            .sort(([one], [other]) => one.localeCompare(other, 'en'))
            .map(([name, value]) => [code(name), settingCell(name, value, t)]),
          none: '',
        },
        next: null,
      }),
    },
  ],
}
