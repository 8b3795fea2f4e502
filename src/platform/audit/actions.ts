import type { Deps } from '../deps.ts'
import { action, type PageAddress } from '../lib/action.ts'
import { EXPORT_TYPES } from '../lib/csv.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { readTexts } from '../lib/root.ts'
import type { Locale, Translate } from '../lib/web/locale.ts'
import { exportAudit, listAudit } from './list.ts'
import { verifyAuditInTime } from './verify.ts'
import { auditExport, verification } from './wire.ts'

const CHINESE = readTexts('events.zh-CN')

const ABBREVIATIONS: readonly (readonly [RegExp, string])[] = [
  [/\btotp\b/, 'authenticator'],
  [/\baes\b/, 'AES'],
]

/** Label of an event on pages: `app_secret_rotated` becomes `App secret rotated`. */
export function eventInWords(event: string, locale: Locale): string {
  const chinese = locale === 'zh-CN' ? CHINESE[event] : undefined
  if (chinese) return chinese
  const words = ABBREVIATIONS.reduce((text, [short, long]) => text.replace(short, long), event.replaceAll('_', ' '))
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The kind of an actor in words; unknown kinds, written by a newer version, as they are. */
const kindInWords = (kind: string, t: Translate): string =>
  t.has(`choice.actor.${kind}`) ? t(`choice.actor.${kind}`) : kind

const actorAs = (kind: string, { name }: { readonly name: string | null }): string =>
  name === null ? kind : `${kind} ${name}`

/** Addresses are personal data. */
const withoutAddresses = ({ events, next }: OutputOf<typeof listAudit>) => ({
  events: events.map((event) => ({ ...event, address: null })),
  next,
})

/** The page of a target: `app:KEY`, `partner:ID`, `order:ID`, `team:ID`, `user:CID/ID` or `product:PARTNER/ID`. */
function targetPage(target: string): PageAddress | undefined {
  const [, kind = '', id = ''] = /^(\w+):(.+)$/s.exec(target) ?? []
  const [, owner = '', ownId = ''] = /^(\d+)\/(.+)$/s.exec(id) ?? []
  switch (kind) {
    case 'app':
      return ['/apps/:app_key', { app_key: id }]
    case 'partner':
      return ['/partners/:partner_id', { partner_id: id }]
    case 'order':
      return ['/orders/:order_id', { order_id: id }]
    case 'user':
      return ownId === '' ? undefined : ['/users/user', { cid: owner, user_id: ownId }]
    case 'product':
      return ownId === ''
        ? undefined
        : ['/partners/:partner_id/products/:partner_deal_id', { partner_id: owner, partner_deal_id: ownId }]
    case 'team':
      return ['/teams/:team_id', { team_id: id }]
    default:
      return undefined
  }
}

export const AUDIT_ACTIONS = [
  action({
    route: 'GET /audit',
    command: 'audit list',
    role: 'viewer',
    run: listAudit,
    masked: withoutAddresses,
    list: {
      rows: 'events',
      exportRole: 'support',
      columns: [
        'at',
        { name: 'actor', of: ({ actor }) => actorAs(actor.kind, actor), onTerminalOnly: true },
        { name: 'actor', of: ({ actor }, t) => actorAs(kindInWords(actor.kind, t), actor), onPagesOnly: true },
        { name: 'address', onPagesOnly: true },
        { name: 'action', onTerminalOnly: true },
        {
          name: 'event',
          onPagesOnly: true,
          of: ({ action: event }, t) => eventInWords(event, t.locale),
          page: ({ action: event }) => ['/audit', { action: event }],
        },
        { name: 'target', page: ({ target }) => targetPage(String(target ?? '')) },
        'outcome',
        { name: 'request_id', onPagesOnly: true },
        'detail',
      ],
    },
  }),
  action({
    route: 'GET /audit/export',
    command: 'audit export',
    role: 'support',
    input: auditExport,
    run: async (deps: Deps, input) => ({ format: input.format, parts: exportAudit(deps, input) }),
    respond: {
      types: Object.values(EXPORT_TYPES),
      of: ({ format, parts }) => ({ name: `audit.${format}`, type: EXPORT_TYPES[format], parts }),
    },
  }),
  action({
    route: 'GET /audit/verify',
    command: 'audit verify',
    role: 'support',
    input: verification,
    run: verifyAuditInTime,
    verdict: ({ intact, unverifiable }) =>
      intact
        ? { tone: 'good', text: 'console.audit.intact' }
        : { tone: 'bad', text: unverifiable ? 'console.audit.unverifiable' : 'console.audit.broken' },
  }),
]
