import { type SettingInForce, settingsInForce } from '../../config/in-force.ts'
import type { Cell, PageContext, Section } from '../page-model.ts'
import { code, text } from '../texts.ts'

const SETTINGS = 'GET /settings'

const settingCell = ({ value, secret }: SettingInForce, t: PageContext['t']): Cell => {
  if (secret) return text(t('console.settings.secret'))
  return value === null ? text(t('console.settings.unset')) : code(String(value))
}

export const settings: Section = {
  id: 'settings',
  title: 'console.settings.title',
  operation: SETTINGS,
  lists: [
    {
      path: '/settings',
      operation: SETTINGS,
      title: 'console.settings.title',
      lead: 'console.settings.lead',
      filters: () => [],
      read: async ({ deps, t }) => ({
        table: {
          head: [t('console.field.setting'), t('console.field.value')],
          rows: settingsInForce(deps.config).settings.map((one) => [code(one.name), settingCell(one, t)]),
          none: '',
        },
        next: null,
      }),
    },
  ],
}
