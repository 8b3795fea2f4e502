import { createHash } from 'node:crypto'
import { jsTicket } from '../resource/index.ts'

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

/** Ways in which programs get another value than the jsTicket; each has a text `developer.js_ticket.<id>`. */
const MISTAKES: Readonly<Record<string, (token: string) => string>> = {
  upper_case: (token) => jsTicket(token).toUpperCase(),
  digest_base64: (token) => Buffer.from(jsTicket(token), 'hex').toString('base64'),
  no_base64: md5,
  newline: (token) => md5(`${base64(token)}\n`),
  newline_before: (token) => jsTicket(`${token}\n`),
  wrapped: (token) => md5(base64(token).replace(/.{76}(?=.)/g, '$&\n')),
  wrapped_crlf: (token) => md5(base64(token).replace(/.{76}(?=.)/g, '$&\r\n')),
  base64url: (token) => md5(Buffer.from(token, 'utf8').toString('base64url')),
  base64_only: base64,
}

interface CheckedTicket {
  readonly ticket: string
  /** Undefined where there was nothing to compare; `unknown`: it is neither right nor one of the mistakes. */
  readonly own: 'right' | 'unknown' | keyof typeof MISTAKES | undefined
}

/** The jsTicket of an access token, and what is wrong with the value that a program has made of it. */
export function checkTicket(accessToken: string, own: string): CheckedTicket {
  const ticket = jsTicket(accessToken)
  if (own === '') return { ticket, own: undefined }
  if (own === ticket) return { ticket, own: 'right' }
  const [mistake = 'unknown'] = Object.entries(MISTAKES).find(([, made]) => made(accessToken) === own) ?? []
  return { ticket, own: mistake }
}
