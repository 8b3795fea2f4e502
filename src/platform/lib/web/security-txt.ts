import type { FastifyInstance } from 'fastify'
import { addSeconds, type Clock, DAY_S } from '../clock.ts'
import { NO_STORE_HEADERS } from './envelope.ts'

const PATH = '/.well-known/security.txt'
/** RFC 9116 recommends less than a year; the date advances every day. */
const VALID_S = 180 * DAY_S

/** Serves security.txt if the operator has set SECURITY_CONTACT. */
export function registerSecurityTxt(
  app: FastifyInstance,
  { SECURITY_CONTACT, PUBLIC_URL }: { readonly SECURITY_CONTACT: readonly string[]; readonly PUBLIC_URL: string },
  clock: Clock,
): void {
  if (SECURITY_CONTACT.length === 0) return
  app.get(PATH, (_request, reply) => {
    const expires = addSeconds(clock.now(), VALID_S)
    expires.setUTCHours(0, 0, 0, 0)
    const lines = [
      ...SECURITY_CONTACT.map((contact) => `Contact: ${contact}`),
      `Expires: ${expires.toISOString()}`,
      'Preferred-Languages: en, zh',
      `Canonical: ${PUBLIC_URL}${PATH}`,
    ]
    return reply
      .headers({ ...NO_STORE_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' })
      .send(`${lines.join('\n')}\n`)
  })
}
