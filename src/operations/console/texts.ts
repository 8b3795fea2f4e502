import { namesIn, type PageAddress } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { Cell, Tone } from './page-model.ts'

const ROLE_TEXTS: Readonly<Record<Role, string>> = {
  viewer: 'console.role.viewer',
  support: 'console.role.support',
  editor: 'console.role.editor',
  admin: 'console.role.admin',
}

export const roleText = (role: Role, t: Translate): string => t(ROLE_TEXTS[role])

/** The name and colour of each state of a record. */
const STATES: Readonly<Record<string, readonly [key: string, tone: Tone]>> = {
  active: ['console.state.active', 'good'],
  approved: ['console.state.approved', 'good'],
  pending: ['console.state.pending', 'warn'],
  suspended: ['console.state.suspended', 'bad'],
  blocked: ['console.state.blocked', 'bad'],
  disabled: ['console.state.disabled', 'bad'],
  sandbox: ['console.state.sandbox', 'plain'],
  live: ['console.state.live', 'good'],
  waiting: ['console.state.waiting', 'plain'],
  running: ['console.state.running', 'good'],
  failed: ['console.state.failed', 'bad'],
  done: ['console.state.done', 'good'],
  refused: ['console.state.refused', 'bad'],
  withdrawn: ['console.state.withdrawn', 'bad'],
  open: ['console.state.open', 'plain'],
  returned: ['console.state.returned', 'warn'],
  viewer: ['console.role.viewer', 'plain'],
  support: ['console.role.support', 'plain'],
  editor: ['console.role.editor', 'plain'],
  admin: ['console.role.admin', 'plain'],
  creating: ['console.state.creating', 'plain'],
  create_unknown: ['console.state.create_unknown', 'warn'],
  create_failed: ['console.state.create_failed', 'bad'],
  created: ['console.state.created', 'plain'],
  paying: ['console.state.paying', 'plain'],
  pay_unknown: ['console.state.pay_unknown', 'warn'],
  pay_failed: ['console.state.pay_failed', 'bad'],
  paid: ['console.state.paid', 'good'],
  consumed: ['console.state.consumed', 'good'],
  refunded: ['console.state.refunded', 'plain'],
  closing: ['console.state.closing', 'plain'],
  closed: ['console.state.closed', 'plain'],
  requested: ['console.state.requested', 'warn'],
  asking: ['console.state.asking', 'plain'],
  unknown: ['console.state.unknown', 'warn'],
  reviewing: ['console.state.reviewing', 'warn'],
  unused: ['console.state.unused', 'plain'],
  used: ['console.state.used', 'good'],
  void: ['console.state.void', 'plain'],
  on_sale: ['console.state.on_sale', 'good'],
  off_sale: ['console.state.off_sale', 'plain'],
  sent: ['console.state.sent', 'good'],
  owner: ['sandbox.members.role.owner', 'plain'],
  developer: ['sandbox.members.role.developer', 'plain'],
  product: ['sandbox.told.product', 'plain'],
  business: ['sandbox.told.business', 'plain'],
}

/** A state by its text; one without a text by its wire name. */
export function stateCell(state: string, t: Translate): Cell {
  const [key, tone] = STATES[state] ?? []
  return key === undefined ? { text: state } : { text: t(key), tone: tone ?? 'plain' }
}

export const text = (value: string): Cell => ({ text: value })
export const code = (value: string): Cell => ({ text: value, isCode: true })
export const link = (value: string, href: string): Cell => ({ text: value, href })

/** A sentence with a time: a line feed in it stands for the moment. */
export const withTime = (sentence: string, at: Date): Cell => ({ text: sentence, at: at.toISOString() })

/** To the second. Never, or nothing, is a dash. */
export const time = (at: Date | null): Cell => (at ? withTime('\n', at) : { text: '–' })

export const orDash = (value: string | number | null): Cell => ({
  text: value === null || value === '' ? '–' : String(value),
})

export const yesNo = (value: boolean, t: Translate): Cell => ({ text: value ? t('console.yes') : t('console.no') })

/** 1,204 */
export const count = (value: number): string => value.toLocaleString('en')

/** The path of a page below /console, each part escaped. */
export const at = (...parts: readonly string[]): string => ['/console', ...parts.map(encodeURIComponent)].join('/')

/** The address of a page about something. */
export function hrefOf([path, about = {}]: PageAddress): string {
  const inPath = namesIn(path)
  const said = (name: string): string => String(about[name] ?? '')
  const parts = path.slice(1).split('/')
  const address = at(...parts.map((part) => (part.startsWith(':') ? said(part.slice(1)) : part)))
  const query = new URLSearchParams()
  for (const name of Object.keys(about)) if (!inPath.includes(name)) query.set(name, said(name))
  return query.size === 0 ? address : `${address}?${query}`
}

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
