import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { showPartner } from '../../ticketing/partners/index.ts'
import { aligned, readable } from './text.ts'

/** A partner, and what was made for it. */
type Shown = OutputOf<typeof showPartner> & {
  readonly client_secret?: string
  readonly webhook_secret?: string
  readonly aes_key?: string
}

const contactLines = (contacts: Shown['contacts']): unknown[][] =>
  Object.entries(contacts).map(([role, { name, mail, webhook_url }]) => [
    'contact',
    `${role} ${name} <${mail}>${webhook_url ? `, webhook ${webhook_url}` : ''}`,
  ])

const secretLine = ({ signs, created_at, ends_at, last_used_at }: Shown['secrets'][number]): unknown[] => {
  const dates = `since ${readable(created_at)}, ends ${readable(ends_at)}, last used ${readable(last_used_at)}`
  return ['secret', signs ? `${dates}, signs our calls` : dates]
}

/** What an operator does next with what was made. */
function nextSteps({ partner_id, client_secret, aes_key, secrets, encrypts_calls }: Shown): string[] {
  const command = (words: string): string => `gatehouse partner ${words}`
  if (client_secret && secrets[0]?.signs === false)
    return [`Our calls are signed with the old secret until: ${command(`switch-signing ${partner_id}`)}`]
  if (aes_key && !encrypts_calls)
    return [`Our calls are not encrypted until: ${command(`update ${partner_id} --encrypt-calls`)}`]
  return []
}

/** A line for each field, URL, contact and live secret. */
export function partnerText(shown: Shown): string {
  const { secrets, interface_urls, contacts, client_secret: _, webhook_secret: __, aes_key, ...partner } = shown
  const lines = [
    ...Object.entries(partner),
    ...Object.entries(interface_urls).map(([name, url]) => ['interface_url', `${name} ${url}`]),
    ...contactLines(contacts),
    ...secrets.map(secretLine),
    ...(aes_key ? [['aes_key in hex', Buffer.from(aes_key).toString('hex')]] : []),
  ]
  return [aligned(lines.map((line) => line.map(readable))), ...nextSteps(shown)].join('\n\n')
}

interface Members {
  readonly members: readonly {
    readonly role: string
    readonly mail: string
    readonly invited_at: Date
    readonly joined_at: Date | null
    readonly mail_state: string | null
  }[]
}

export function membersText({ members }: Members): string {
  if (members.length === 0) return 'no members: the clientSecret signs in to the sandbox'
  const rows = members.map(({ role, invited_at, joined_at, mail_state, mail }) =>
    [role, invited_at, joined_at, joined_at ? null : mail_state, mail].map(readable),
  )
  return aligned([['ROLE', 'INVITED', 'JOINED', 'MAIL SENT', 'MAIL'], ...rows])
}

export const resetText = ({ partner_id, processes }: { partner_id: bigint | number; processes: number }): string =>
  processes === 0 ? `no circuit breaker of partner ${partner_id} is open` : `reset in ${processes} processes`
