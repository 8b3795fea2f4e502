import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { action } from '../lib/action.ts'
import { ROOT } from '../lib/root.ts'
import type { Translate } from '../lib/web/locale.ts'
import { isChanged, type SettingInForce, settingsInForce } from './in-force.ts'
import type { Config } from './index.ts'
import { settings } from './schema.ts'

/** What settings mean, for pages. The English texts are in the schema. */

const CHINESE: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('views/locales/settings.zh-CN.json', ROOT), 'utf8'),
)

/** The description without its Markdown. */
function meaningOf(name: string, { locale }: Translate): string {
  const schema = settings.shape[name as keyof typeof settings.shape]
  const meaning = (locale === 'zh-CN' ? CHINESE[name] : schema?.description) ?? ''
  return meaning.replaceAll('`', '')
}

const shown = ({ value, secret }: SettingInForce, t: Translate): string => {
  if (secret) return t('console.settings.secret')
  if (typeof value === 'boolean') return value ? 'on' : 'off' // as it is written
  return value === null ? t('console.settings.unset') : String(value)
}

const UNITS = [
  [/_PER_MINUTE$/, 'console.unit.per_minute'],
  [/_MS$/, 'console.unit.milliseconds'],
  [/_S$/, 'console.unit.seconds'],
  [/_DAYS$/, 'console.unit.days'],
  [/_MB$/, 'console.unit.mebibytes'],
] as const

/** The unit of a numeric setting, from the suffix of its name. */
const unitOf = ({ name, value }: SettingInForce, t: Translate): string => {
  const [, unit] = UNITS.find(([ending]) => ending.test(name)) ?? []
  return unit === undefined || typeof value !== 'number' ? '' : t(unit)
}

/** What operators see of the settings. */
export const SETTING_ACTIONS = [
  action({
    route: 'GET /settings',
    command: 'settings',
    role: 'viewer',
    input: z.strictObject({}),
    run: async ({ config }: { readonly config: Config }) => {
      const { settings } = settingsInForce(config)
      return { settings: [...settings.filter(isChanged), ...settings.filter((one) => !isChanged(one))] }
    },
    list: {
      rows: 'settings',
      columns: [
        { name: 'setting', of: ({ name }) => name },
        { name: 'value', of: shown },
        { name: 'unit', of: unitOf, onPagesOnly: true },
        { name: 'changed', of: isChanged },
        { name: 'meaning', of: ({ name }, t) => meaningOf(name, t), onPagesOnly: true },
      ],
    },
  }),
]
