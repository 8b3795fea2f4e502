import type { ShownPartner } from './wire.ts'

/** A partner, and what was made for it. */
export type Shown = ShownPartner & {
  readonly client_secret?: string
  readonly webhook_secret?: string
  readonly aes_key?: string
}

type Line = readonly unknown[] | string

const iso = (at: Date | null): string => at?.toISOString() ?? '-'

const contactLines = (contacts: ShownPartner['contacts']): Line[] =>
  Object.entries(contacts).map(([role, { name, mail, webhook_url }]) => [
    'contact',
    `${role} ${name} <${mail}>${webhook_url ? `, webhook ${webhook_url}` : ''}`,
  ])

const secretLine = ({ signs, created_at, ends_at, last_used_at }: ShownPartner['secrets'][number]): Line => {
  const dates = `since ${iso(created_at)}, ends ${iso(ends_at)}, last used ${iso(last_used_at)}`
  return ['secret', signs ? `${dates}, signs our calls` : dates]
}

/** What an operator does next with what was made. */
function nextSteps({ partner_id, client_secret, aes_key, secrets, encrypts_calls }: Shown): Line[] {
  const command = (words: string): string => `gatehouse partner ${words}`
  if (client_secret && secrets[0]?.signs === false)
    return [`Our calls are signed with the old secret until: ${command(`switch-signing ${partner_id}`)}`]
  if (aes_key && !encrypts_calls)
    return [`Our calls are not encrypted until: ${command(`update ${partner_id} --encrypt-calls`)}`]
  return []
}

/** On the terminal: a line for each field, URL, contact and live secret. */
export function linesOf(shown: Shown): Line[] {
  const { secrets, interface_urls, contacts, client_secret: _, webhook_secret: __, aes_key, ...partner } = shown
  return [
    ...Object.entries(partner),
    ...Object.entries(interface_urls).map(([name, url]) => ['interface_url', `${name} ${url}`]),
    ...contactLines(contacts),
    ...secrets.map(secretLine),
    ...(aes_key ? [['aes_key in hex', Buffer.from(aes_key).toString('hex')]] : []),
    ...nextSteps(shown),
  ]
}
