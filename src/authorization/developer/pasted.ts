import { type ParseArgsConfig, parseArgs } from 'node:util'
import { cutTo } from '../../platform/lib/storable.ts'

/** Parses a pasted request: a URL, a curl command, or raw HTTP. */

export interface PastedRequest {
  /** Null if only a URL was pasted. */
  readonly method: string | null
  /** Scheme and host; null if only a path was pasted. */
  readonly origin: string | null
  /** Path and query. */
  readonly url: string
  /** Names in lower case. */
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
  const rest = blank < 0 ? [] : lines.slice(blank + 1)
  const body = rest.join('\n').trim()
  const headers = headersOf(head)
  const host = target.startsWith('/') ? headers.host : undefined
  // Raw HTTP has no scheme: only the host is compared.
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

/** Splits a shell command into words: handles quotes, escapes and line continuations. */
function wordsOf(command: string): string[] {
  const words = command
    .replace(/[\\^]\r?\n/g, ' ')
    .matchAll(/(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/gs)
  return [...words].map(([word]) =>
    word.replace(
      /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
      (_whole, ansi?: string, single?: string, double?: string, escaped?: string) =>
        (ansi && unescaped(ansi)) ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
    ),
  )
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** The content of `$'…'`, which browsers use when they copy a request whose text has quotes or exclamation marks. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gis, (_whole, u?: string, x?: string, other = '') =>
    u || x ? String.fromCharCode(Number.parseInt(u ?? x ?? '', 16)) : (CONTROLS[other] ?? other),
  )

/** curl options that affect the request, and their letters. */
const DATA = ['data', 'data-raw', 'data-binary', 'data-ascii', 'data-urlencode', 'json']
const PARTS = ['form', 'form-string']
const LETTERS = { request: 'X', header: 'H', data: 'd', form: 'F', user: 'u' }
const FLAGS = { get: { type: 'boolean', short: 'G' }, head: { type: 'boolean', short: 'I' } } as const
/** Other options that take a value, from `curl --help all`; of the long ones only those for HTTP. */
const OTHER_LETTERS = 'AbcCDeEKmoPQrtTUwxyYz'
const OTHERS =
  'cacert capath cert cert-type ciphers config connect-timeout connect-to cookie cookie-jar dump-header expect100-timeout interface key key-type limit-rate max-redirs max-time noproxy oauth2-bearer output output-dir pass pinnedpubkey proto proxy proxy-header proxy-user referer resolve retry retry-delay retry-max-time socks5 socks5-hostname stderr tls-max trace trace-ascii unix-socket url user-agent write-out'
const withValue = (name: string, short?: string) => [name, { type: 'string' as const, ...(short ? { short } : {}) }]
const OPTIONS: ParseArgsConfig['options'] = {
  ...Object.fromEntries([...DATA, ...PARTS, ...OTHERS.split(' ')].map((name) => withValue(name))),
  ...Object.fromEntries(Object.entries(LETTERS).map(([name, short]) => withValue(name, short))),
  ...Object.fromEntries([...OTHER_LETTERS].map((letter) => withValue(`letter ${letter}`, letter))),
  ...FLAGS,
}

/** Options by their long names, with values, in their order. Letters may be combined: `-sX POST`, `-sXPOST`. */
const optionsOf = (args: string[]): (readonly [name: string, value: string])[] =>
  parseArgs({ args, options: OPTIONS, strict: false, allowPositionals: true, tokens: true }).tokens.flatMap((token) => {
    if (token.kind === 'option-terminator') return []
    return [token.kind === 'option' ? [token.name, token.value ?? ''] : ['url', token.value]] as const
  })

const urlEncoded = (text: string): string => {
  const equals = text.indexOf('=')
  const name = equals < 0 ? '' : text.slice(0, equals)
  const value = encodeURIComponent(text.slice(equals + 1))
  return name === '' ? value : `${name}=${value}`
}

function parseCurl([, ...words]: readonly string[]): PastedRequest | undefined {
  let [method, address, isGet, type]: [string | null, string, boolean, string] = [null, '', false, FORM]
  const headers: string[] = []
  const data: string[] = []
  for (const [name, value] of optionsOf(words)) {
    if (name === 'request') method = value.toUpperCase()
    else if (name === 'head') method ??= 'HEAD'
    else if (name === 'header') headers.push(value)
    else if (name === 'user') headers.push(`authorization: Basic ${btoaUtf8(value)}`)
    else if (name === 'oauth2-bearer') headers.push(`authorization: Bearer ${value}`)
    else if (name === 'get') isGet = true
    else if (name === 'url') address = value
    else if (PARTS.includes(name)) {
      data.push(value)
      type = 'multipart/form-data'
    } else if (DATA.includes(name)) {
      data.push(name === 'data-urlencode' ? urlEncoded(value) : value)
      if (name === 'json') type = 'application/json'
    }
  }
  const body = data.length > 0 && !isGet ? data.join('&') : null
  const inQuery = data.length > 0 && isGet ? `${address.includes('?') ? '&' : '?'}${data.join('&')}` : ''
  const sent = headersOf(headers)
  const typed = body === null ? sent : { 'content-type': type, ...sent }
  const request = { method: method ?? (body === null ? 'GET' : 'POST'), headers: typed, body }
  // Without a scheme, as in `localhost:3000/docs`, only the host is compared.
  const [, host, path] = /^([\w.-]+(?::\d+)?)([/?].*)?$/s.exec(address) ?? []
  if (host !== undefined) return at((path ?? '/') + inQuery, { ...request, origin: `//${host.toLowerCase()}` })
  return at(address + inQuery, request)
}

const btoaUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

export const isForm = ({ headers }: PastedRequest): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === FORM
