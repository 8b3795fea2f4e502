import { cutTo } from '../../platform/lib/storable.ts'

/** A request as developers have it at hand: an address, a curl command, or HTTP as it went over the wire. */

export interface PastedRequest {
  /** Null where only an address was pasted. */
  readonly method: string | null
  /** Scheme and host; null where only a path was pasted. */
  readonly origin: string | null
  /** Path and query. */
  readonly url: string
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export const LONGEST_PASTED = 16_384
const FORM = 'application/x-www-form-urlencoded'

export function parsePasted(text: string): PastedRequest | undefined {
  const trimmed = cutTo(text.trim(), LONGEST_PASTED)
  if (/^(\$\s*)?curl\s/.test(trimmed)) return parseCurl(wordsOf(trimmed.replace(/^\$\s*/, '')))
  const [first = '', ...rest] = trimmed.split(/\r?\n/)
  const [, method, target] = /^([A-Z]{3,7}) +(\S+)(?: +HTTP\/[\d.]+)?$/.exec(first.trim()) ?? []
  if (method && target) return parseHttp(method, target, rest)
  return /\s/.test(trimmed) ? undefined : at(trimmed, {})
}

function at(address: string, more: Partial<PastedRequest>): PastedRequest | undefined {
  const request = { method: null, headers: {}, body: null, ...more }
  if (address.startsWith('/')) return { origin: null, url: address, ...request }
  const [, origin, url] = /^(https?:\/\/[^/?#\s]+)([^#\s]*)/i.exec(address) ?? []
  return origin === undefined ? undefined : { origin: origin.toLowerCase(), url: url || '/', ...request }
}

function parseHttp(method: string, target: string, lines: readonly string[]): PastedRequest | undefined {
  const blank = lines.findIndex((line) => line.trim() === '')
  const head = blank < 0 ? lines : lines.slice(0, blank)
  const body =
    blank < 0
      ? ''
      : lines
          .slice(blank + 1)
          .join('\n')
          .trim()
  const headers = headersOf(head)
  const host = target.startsWith('/') ? headers.host : undefined
  // The scheme is not on the wire: only the host is compared.
  const origin = host === undefined ? {} : { origin: `//${host.toLowerCase()}` }
  return at(target, { method, headers, body: body === '' ? null : body, ...origin })
}

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value = ''] = /^([\w-]+):\s*(.*)$/.exec(line.trim()) ?? []
      return name === undefined ? [] : [[name.toLowerCase(), value] as const]
    }),
  )

/** The words of a shell command: quotes, escapes and continued lines. */
function wordsOf(command: string): string[] {
  const words = command
    .replace(/[\\^]\r?\n/g, ' ')
    .matchAll(/(?:\$?'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]))+/g)
  return [...words].map(([word]) =>
    word.replace(/\$?'((?:[^'])*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_whole, single, double, escaped) =>
      single !== undefined ? single : double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : escaped,
    ),
  )
}

const DATA = ['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--data-urlencode', '--json']
/** Options of curl that take a value which says nothing of the request. */
const SKIPPED = ['-o', '--output', '-A', '--user-agent', '-e', '--referer', '-b', '--cookie', '--cacert', '-m', '-w']

const urlEncoded = (text: string): string => {
  const equals = text.indexOf('=')
  const name = equals < 0 ? '' : text.slice(0, equals)
  const value = encodeURIComponent(text.slice(equals + 1))
  return name === '' ? value : `${name}=${value}`
}

function parseCurl([, ...words]: readonly string[]): PastedRequest | undefined {
  let [method, address, isGet]: [string | null, string, boolean] = [null, '', false]
  const headers: string[] = []
  const data: string[] = []
  for (let n = 0; n < words.length; n++) {
    const [, long = '', given] = /^(--[\w-]+)=(.*)$/s.exec(words[n] ?? '') ?? []
    const word = long || (words[n] ?? '')
    const value = () => given ?? words[++n] ?? ''
    if (word === '-X' || word === '--request') method = value().toUpperCase()
    else if (/^-X\w+$/.test(word)) method = word.slice(2).toUpperCase()
    else if (word === '-H' || word === '--header') headers.push(value())
    else if (word === '-u' || word === '--user') headers.push(`authorization: Basic ${btoaUtf8(value())}`)
    else if (word === '--oauth2-bearer') headers.push(`authorization: Bearer ${value()}`)
    else if (word === '-G' || word === '--get') isGet = true
    else if (word === '--url') address = value()
    else if (DATA.includes(word)) {
      data.push(word === '--data-urlencode' ? urlEncoded(value()) : value())
      if (word === '--json') headers.push('content-type: application/json')
    } else if (SKIPPED.includes(word)) value()
    else if (!word.startsWith('-')) address = word
  }
  const body = data.length > 0 && !isGet ? data.join('&') : null
  const inQuery = data.length > 0 && isGet ? `${address.includes('?') ? '&' : '?'}${data.join('&')}` : ''
  const sent = headersOf(headers)
  const typed = body === null ? sent : { 'content-type': FORM, ...sent }
  return at(address + inQuery, { method: method ?? (body === null ? 'GET' : 'POST'), headers: typed, body })
}

const btoaUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

/** Whether a body of this type is read as a form. */
export const isForm = ({ headers }: PastedRequest): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === FORM
