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
  const body =
    blank < 0
      ? ''
      : lines
          .slice(blank + 1)
          .join('\n')
          .trim()
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

/** curl options that affect the request. */
const DATA = ['--data', '--data-raw', '--data-binary', '--data-ascii', '--data-urlencode', '--json']
const PARTS = ['--form', '--form-string']
const REQUEST_OPTIONS = [...DATA, ...PARTS, '--request', '--header', '--user', '--oauth2-bearer', '--url']
const LETTERS: Readonly<Record<string, string>> = {
  X: '--request',
  H: '--header',
  d: '--data',
  F: '--form',
  u: '--user',
  G: '--get',
  I: '--head',
}
/** Options that take a value, from `curl --help all`; of the long ones only those for HTTP. */
const LETTERS_WITH_VALUE = 'AbcCdDeEFHKmoPQrtTuUwxXyYz'
const OTHERS_WITH_VALUE =
  'cacert capath cert cert-type ciphers config connect-timeout connect-to cookie cookie-jar dump-header expect100-timeout interface key key-type limit-rate max-redirs max-time noproxy output output-dir pass pinnedpubkey proto proxy proxy-header proxy-user referer resolve retry retry-delay retry-max-time socks5 socks5-hostname stderr tls-max trace trace-ascii unix-socket user-agent write-out'
    .split(' ')
    .map((name) => `--${name}`)

/** Yields options by their long names, with values. Letters may be combined: `-sX POST`, `-sXPOST`. */
function* optionsOf(words: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let n = 0; n < words.length; n++) {
    const word = words[n] ?? ''
    if (!word.startsWith('-')) yield ['--url', word]
    else if (word.startsWith('--')) {
      const [, name = word, given] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? []
      const takesValue = REQUEST_OPTIONS.includes(name) || OTHERS_WITH_VALUE.includes(name)
      yield [name, takesValue ? (given ?? words[++n] ?? '') : '']
    } else {
      const letters = [...word.slice(1)]
      const last = letters.findIndex((letter) => LETTERS_WITH_VALUE.includes(letter))
      const alone = last < 0 ? letters : letters.slice(0, last)
      for (const letter of alone) yield [LETTERS[letter] ?? '', '']
      const attached = letters.slice(last + 1).join('')
      if (last >= 0) yield [LETTERS[letters[last] ?? ''] ?? '', attached || (words[++n] ?? '')]
    }
  }
}

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
    if (name === '--request') method = value.toUpperCase()
    else if (name === '--head') method ??= 'HEAD'
    else if (name === '--header') headers.push(value)
    else if (name === '--user') headers.push(`authorization: Basic ${btoaUtf8(value)}`)
    else if (name === '--oauth2-bearer') headers.push(`authorization: Bearer ${value}`)
    else if (name === '--get') isGet = true
    else if (name === '--url') address = value
    else if (PARTS.includes(name)) {
      data.push(value)
      type = 'multipart/form-data'
    } else if (DATA.includes(name)) {
      data.push(name === '--data-urlencode' ? urlEncoded(value) : value)
      if (name === '--json') type = 'application/json'
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

/** Whether the body is read as a form. */
export const isForm = ({ headers }: PastedRequest): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === FORM
