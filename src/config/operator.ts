import { z } from 'zod'
import { action } from '../lib/action.ts'
import type { Translate } from '../lib/web/locale.ts'
import { meaningOf } from './described.ts'
import { isChanged, type SettingInForce, settingsInForce } from './in-force.ts'
import type { Config } from './index.ts'

const shown = ({ value, secret }: SettingInForce, t: Translate): string => {
  if (secret) return t('console.settings.secret')
  return value === null ? t('console.settings.unset') : String(value)
}

/** What operators see of the settings. */
export const SETTING_ACTIONS = [
  action({
    route: 'GET /settings',
    command: 'settings',
    role: 'viewer',
    input: z.strictObject({}),
    run: async ({ config }: { readonly config: Config }) => settingsInForce(config),
    list: {
      rows: 'settings',
      columns: [
        { name: 'setting', of: ({ name }) => name },
        { name: 'value', of: shown },
        { name: 'changed', of: isChanged, onPagesOnly: true },
        { name: 'meaning', of: ({ name }, t) => meaningOf(name, t), onPagesOnly: true },
      ],
      first: isChanged,
    },
  }),
]
