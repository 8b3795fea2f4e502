import { z } from 'zod'
import { action } from '../lib/action.ts'
import { readTexts } from '../lib/root.ts'
import { perLocale, type Translate } from '../lib/web/locale.ts'
import { addressText, isAllowedAddress } from './allowed-address.ts'
import { type Config, readConfig } from './index.ts'

interface SettingInForce {
  readonly name: string
  /** Null where it is not set, or `secret`; lists as they are written, with commas. */
  readonly value: string | number | boolean | null
  /** It is set, and its value is never shown. */
  readonly secret: boolean
}

/** Names of settings whose texts are never shown. PASSWORD_RESET says only how a password is reset. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD(?!_RESET$)|HEADERS|CREDENTIAL/

/** `postgres://user:word@host/name?password=word` without user, word and query; any setting may contain such parts. */
const withoutUser = (value: string): string =>
  value.replace(/(:\/\/)[^/?#\s]*@/g, '$1***@').replace(/(:\/\/[^?#\s]*)\?[^#\s"]*/g, '$1?***')

/** Paths of which one is empty are written without it. */
function written(value: unknown): string {
  if (Array.isArray(value))
    return value
      .map(written)
      .filter((entry) => entry !== '')
      .join(', ')
  return isAllowedAddress(value) ? addressText(value) : withoutUser(String(value))
}

export function settingInForce(name: string, value: unknown): SettingInForce {
  const empty = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
  if (empty) return { name, value: null, secret: false }
  if (typeof value === 'number' || typeof value === 'boolean') return { name, value, secret: false }
  if (SECRET.test(name)) return { name, value: null, secret: true }
  return { name, value: written(value), secret: false }
}

/** Every setting of this process, without secrets. */
const settingsInForce = (config: Config): SettingInForce[] =>
  Object.entries(config)
    .filter(([name]) => /^[A-Z]/.test(name))
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([name, value]) => settingInForce(name, value))

/** Cache: the defaults never change. */
let defaults: ReadonlyMap<string, SettingInForce> | undefined

/** Whether a setting differs from its default. */
export function isChanged({ name, value, secret }: SettingInForce): boolean {
  defaults ??= new Map(settingsInForce(readConfig({})).map((setting) => [setting.name, setting]))
  const usual = defaults.get(name)
  return value !== usual?.value || secret !== usual?.secret
}

/** Cache: what settings mean, by name. */
const meanings = perLocale((locale) => readTexts(`settings.${locale}`))

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

export const SETTING_ACTIONS = [
  action({
    route: 'GET /settings',
    command: 'settings',
    role: 'viewer',
    input: z.strictObject({}),
    run: async ({ config }: { readonly config: Config }) => {
      const settings = settingsInForce(config)
      return { settings: [...settings.filter(isChanged), ...settings.filter((one) => !isChanged(one))] }
    },
    list: {
      rows: 'settings',
      columns: [
        { name: 'setting', of: ({ name }) => name },
        { name: 'value', of: shown },
        { name: 'unit', of: unitOf, onPagesOnly: true },
        { name: 'changed', of: isChanged },
        {
          name: 'meaning',
          of: ({ name }, t) => (meanings(t.locale)[name] ?? '').replaceAll('`', ''),
          onPagesOnly: true,
        },
      ],
    },
  }),
]
