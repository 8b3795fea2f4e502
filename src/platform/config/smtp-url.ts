import { parsedUrl } from '../lib/parsed-url.ts'

interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the start, not by STARTTLS. */
  readonly secure: boolean
  readonly auth: { readonly user: string; readonly pass: string } | undefined
}

/** Reads `smtp(s)://user:password@host:port`, user and password percent-encoded; undefined for anything else. */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = parsedUrl(text)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return undefined
  const secure = url.protocol === 'smtps:'
  try {
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
      secure,
      auth: user === '' ? undefined : { user, pass },
    }
  } catch {
    return undefined
  }
}

/** `a@b.example` or `Name <a@b.example>`: one sender, without anything that mail headers read differently. */
export const MAIL_SENDER = /^([^<>"@,;:\p{Cc}]+ <[^<>\s@,;]+@[^<>\s@,;]+>|[^<>\s@,;:]+@[^<>\s@,;]+)$/u
