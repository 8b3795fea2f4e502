import { namesIn, type PageAddress, type Tone } from '../../platform/lib/action.ts'
import { MEMBER_ROLES } from '../../platform/lib/member.ts'
import { ROLES, type Role } from '../../platform/lib/web/admin-auth.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { CONTACT_ROLES } from '../../ticketing/partners/index.ts'
import type { Cell, Fact } from './page-model.ts'

export const roleText = (role: Role, t: Translate): string => t(`console.role.${role}`)

/** States with a text, by the colour in which pages show them. */
export const STATES = {
  good: 'succeeded active approved live running done paid used consumed on_sale sent',
  warning: 'code_asked pending create_unknown pay_unknown requested unknown reviewing returned',
  bad: 'locked suspended blocked disabled failed refused withdrawn create_failed pay_failed',
  plain: 'sandbox waiting creating created paying refunded closing closed asking unused void off_sale open',
} as const

const TONES: ReadonlyMap<string, Tone> = new Map(
  (Object.entries(STATES) as [Tone, string][]).flatMap(([tone, states]) =>
    states.split(' ').map((state) => [state, tone] as const),
  ),
)

/** Roles of operators, of a partner's people, and of its contacts. */
const ROLE_KEYS = ['console.role', 'sandbox.members.role', 'sandbox.told']
const ALL_ROLES = new Set<string>([...ROLES, ...MEMBER_ROLES, ...CONTACT_ROLES])

/** A state or role, by its text or else its wire name. */
export function stateCell(state: string, t: Translate): Cell {
  const tone = TONES.get(state)
  if (tone) return { text: t(`console.state.${state}`), tone }
  const role = ALL_ROLES.has(state) ? ROLE_KEYS.find((key) => t.has(`${key}.${state}`)) : undefined
  return role ? { text: t(`${role}.${state}`), tone: 'plain' } : { text: state }
}

/** `Order: 15` */
export const titled = (what: string, name: string, t: Translate): string =>
  t('layout.pair', { label: what, value: name })

export const text = (value: string): Cell => ({ text: value })
export const code = (value: string): Cell => ({ text: value, isCode: true })
export const link = (value: string, href: string): Cell => ({ text: value, href })
export const fact = (name: string, ...cells: readonly Cell[]): Fact => ({ name, cells })

/** A sentence with a time; a line feed is its placeholder. */
export const withTime = (sentence: string, at: Date): Cell => ({ text: sentence, moments: [at.toISOString()] })

export const time = (at: Date): Cell => withTime('\n', at)

export const orDash = (value: string | number | null): Cell => ({
  text: value === null || value === '' ? '–' : String(value),
})

export const yesNo = (value: boolean, t: Translate): Cell => ({ text: value ? t('console.yes') : t('console.no') })

/** 1,204 */
export const count = (value: number): string => value.toLocaleString('en')

/** The path of a page below /console, with each part escaped. */
export const at = (...parts: readonly string[]): string => ['/console', ...parts.map(encodeURIComponent)].join('/')

export function hrefOf([path, about = {}]: PageAddress): string {
  const inPath = namesIn(path)
  const textOf = (name: string): string => String(about[name] ?? '')
  const parts = path.slice(1).split('/')
  const address = at(...parts.map((part) => (part.startsWith(':') ? textOf(part.slice(1)) : part)))
  const query = new URLSearchParams()
  for (const name of Object.keys(about)) if (!inPath.includes(name)) query.set(name, textOf(name))
  return query.size === 0 ? address : `${address}?${query}`
}

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
