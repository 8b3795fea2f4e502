import { addressText, isAllowedAddress } from './allowed-address.ts'
import { type Config, readConfig } from './index.ts'

export interface SettingInForce {
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

/** Every setting of this process by its name, without secrets. */
export const settingsInForce = (config: Config): { readonly settings: SettingInForce[] } => ({
  settings: Object.entries(config)
    .filter(([name]) => /^[A-Z]/.test(name))
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([name, value]) => settingInForce(name, value)),
})

/** Cache: the defaults never change. */
let defaults: ReadonlyMap<string, SettingInForce> | undefined

/** Whether a setting differs from its default. */
export function isChanged({ name, value, secret }: SettingInForce): boolean {
  defaults ??= new Map(settingsInForce(readConfig({})).settings.map((setting) => [setting.name, setting]))
  const usual = defaults.get(name)
  return value !== usual?.value || secret !== usual?.secret
}
