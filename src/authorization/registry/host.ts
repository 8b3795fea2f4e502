import { getPublicSuffix } from 'tldts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'

/** Hosts that an app's redirect URIs may have (REFERENCE "Redirect URI"). */

export type HostEntry = { readonly entry: string } | { readonly problem: LocalizedText }

// Checked before parsing: the URL parser silently drops tabs and newlines and turns `\` into `/`.
const REFUSED: readonly (readonly [RegExp, LocalizedText])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  [/[\s\u0000-\u001f\u007f-\u009f]/, localized('host-no-whitespace')],
  [/:\/\//, localized('host-no-scheme')],
  [/@/, localized('host-no-user-name')],
  [/[/\\?#]/, localized('host-no-path')],
  [/%/, localized('host-not-encoded')],
]
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A DNS label of letters, digits and hyphens. */
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

const isAddress = (host: string): boolean => host.startsWith('[') || IPV4.test(host)

/** A host in the form that is stored: `host`, `host:port` or `*.host`, lower case, punycode, no trailing dot. */
export function parseHostEntry(text: string): HostEntry {
  if (text === '') return { problem: localized('must-be-filled') }
  const refused = REFUSED.find(([pattern]) => pattern.test(text))
  if (refused) return { problem: refused[1] }
  const wildcard = text.startsWith('*.')
  const rest = wildcard ? text.slice(2) : text
  if (rest.includes('*')) return { problem: localized('host-one-wildcard') }
  const [, name = '', port] = HOST_AND_PORT.exec(rest) ?? []
  if (name === '') return { problem: localized('host-missing') }
  const host = canonicalHost(name)
  if (!host) return { problem: localized('host-invalid') }
  if (!wildcard) return withPort(host, port)
  if (port !== undefined) return { problem: localized('wildcard-no-port') }
  if (isAddress(host)) return { problem: localized('wildcard-no-address') }
  if (!host.includes('.')) return { problem: localized('wildcard-two-labels') }
  if (isPublicSuffix(host)) return { problem: localized('wildcard-public-suffix') }
  return { entry: `*.${host}` }
}

/** A domain whose sub-domains belong to different owners: `co.uk`, `github.io`. */
const isPublicSuffix = (host: string): boolean => getPublicSuffix(host, { allowPrivateDomains: true }) === host

function canonicalHost(name: string): string | undefined {
  const address = parsedUrl(`http://${name}/`)
  if (!address) return undefined
  const host = address.hostname.replace(/\.$/, '')
  if (isAddress(host)) return host
  return host.length <= 253 && host.split('.').every((label) => LABEL.test(label)) ? host : undefined
}

function withPort(host: string, port: string | undefined): HostEntry {
  if (port === undefined) return { entry: host }
  const number = Number(port)
  if (!/^\d{1,5}$/.test(port) || number < 1 || number > 65_535) return { problem: localized('port-invalid') }
  return { entry: `${host}:${number}` }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Whether a stored entry covers the URL: `host` any port, `host:port` exactly that one (which may be the scheme's default),
 * `*.host` every sub-domain at any depth and port but not `host` itself. A stored `*.` before a public suffix covers nothing:
 * the list of these suffixes grows.
 */
export function hostMatches(entry: string, url: URL): boolean {
  if (entry.startsWith('*.')) {
    const suffix = entry.slice(1)
    const labels = url.hostname.slice(0, -suffix.length).split('.')
    return (
      url.hostname.endsWith(suffix) &&
      labels.every((label) => LDH_LABEL.test(label)) &&
      !isPublicSuffix(suffix.slice(1))
    )
  }
  const port = url.port || DEFAULT_PORTS[url.protocol]
  return entry === url.hostname || entry === `${url.hostname}:${port}`
}
