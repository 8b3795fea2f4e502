import { z } from 'zod'
import { issue, problem } from '../json/field-problem.ts'
import { parsedUrl } from '../parsed-url.ts'

/** The URL parser repairs these silently, dropping tabs or turning `\` into `/`: another one may then see another host. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
export const NOT_IN_URLS = /[\s\\\u0000-\u001f\u007f-\u009f]/

function webUrlProblem(text: string) {
  if (NOT_IN_URLS.test(text)) return 'must-have-no-whitespace'
  const url = /^https?:\/\//i.test(text) ? parsedUrl(text) : undefined
  if (!url) return 'must-be-absolute-url'
  return url.username || url.password ? 'must-have-no-user-name' : undefined
}

/** An absolute http(s) URL, kept exactly as typed, without characters that would confuse readers or the database. */
export const webUrl = z
  .string()
  .max(2_048)
  .superRefine((text, context) => {
    const wrong = webUrlProblem(text)
    if (wrong) context.addIssue(issue(wrong))
  })

export const endpointUrl = webUrl.refine((text) => !text.includes('#'), problem('must-have-no-fragment'))

/** The URL of a webhook often contains a secret, in its path as well as in its query: `https://example.com/…`. */
export const maskedWebhook = (url: string): string => `${new URL(url).origin}/…`

export const withMaskedWebhook = <Told extends { readonly webhook_url: string | null }>(told: Told): Told => ({
  ...told,
  webhook_url: told.webhook_url && maskedWebhook(told.webhook_url),
})

/** The query of the URL of an interface may hold a credential: `https://example.com/api?…`. */
export const maskedQuery = (url: string): string => url.replace(/\?.*/s, '?…')

export const hasParameter = (text: string, names: readonly string[]): boolean => {
  const parameters = parsedUrl(text)?.searchParams
  return parameters !== undefined && names.some((name) => parameters.has(name))
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

/** Whether a host name or address, in a URL or by itself, is a loopback one. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host)

/**
 * Whether a Host header names this machine, on any port, since ports may be forwarded. Against DNS rebinding: a page of
 * another site can make its own name, which is then in Host, resolve to us.
 */
export const namesThisMachine = (host = ''): boolean => isLoopbackHost(host.replace(/:\d{1,5}$/, ''))
