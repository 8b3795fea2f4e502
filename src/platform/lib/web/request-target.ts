import type { FastifyRequest } from 'fastify'
import { localized } from '../localized-text.ts'
import { readOr } from '../read-or.ts'
import { echo, invalidRequest } from './rescode.ts'

/** The path of a request target, as sent. An absolute-form target (proxies) loses scheme and host but no path prefix. */
export const pathAsSent = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/\?.*$/s, '') || '/'

/** Percent-decoded, or unchanged if that fails. */
export const decodedPath = (path: string): string => readOr(() => decodeURIComponent(path), path)

/** A decoded query. Repeated and undecodable names are listed separately, not guessed at. */
export interface Query {
  /** Decoded values by decoded name; of a repeated name, the first. */
  readonly values: ReadonlyMap<string, string>
  readonly repeated: readonly string[]
  readonly undecodable: readonly string[]
}

const ASCII = /^[\x21-\x7e]*$/

/** `+` and `%20` are spaces. Undefined for broken percent-encoding, invalid UTF-8 and raw non-ASCII bytes. */
function decode(text: string): string | undefined {
  if (!ASCII.test(text)) return undefined
  if (!text.includes('%') && !text.includes('+')) return text
  return readOr(() => decodeURIComponent(text.replaceAll('+', ' ')), undefined)
}

/** Decodes a name or value of a form whose bytes were checked; a stray percent sign stays, as in browsers. */
export function formDecoded(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  return readOr(() => decodeURIComponent(text.replaceAll('+', ' ').replaceAll(/%(?![\da-f]{2})/gi, '%25')), undefined)
}

export function queryOf(url: string): string {
  const question = url.indexOf('?')
  return question < 0 ? '' : url.slice(question + 1)
}

export function parseQuery(text: string): Query {
  const values = new Map<string, string>()
  const repeated: string[] = []
  const undecodable: string[] = []
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === undefined) undecodable.push('(a parameter name)')
    else if (values.has(name)) repeated.push(name)
    else values.set(name, value ?? '')
    if (name !== undefined && value === undefined) undecodable.push(name)
  }
  return { values, repeated, undecodable }
}

/** A hook for rooms that use Fastify's query, where an undecodable value stays as sent (`%C4%E3`). */
export const refuseUnreadableQuery = async ({ url }: FastifyRequest): Promise<void> => {
  if (!url.includes('%')) return
  const [name] = parseQuery(queryOf(url)).undecodable
  if (name !== undefined) throw invalidRequest(localized('is-not-utf8', { field: echo(name) }))
}
