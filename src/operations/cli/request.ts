import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { COMMAND_WAITS_S } from '../../platform/config/call-limits.ts'
import { fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { parseLossless, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { type FoundService, NoService, type SentRequest } from './service.ts'

/** Requests to a service, mostly to its admin API. Uses Node's own client because undici takes 0.1 s to load. */

/** One request below /admin/v1. */
export interface Call {
  /** Method and path; `:name` stands for the field of that name. */
  readonly route: string
  /** Fields that are not in the path go into the query of a GET, otherwise into the body. */
  readonly fields: Readonly<Record<string, unknown>>
}

function requestOf(url: string, { route, fields }: Call): SentRequest {
  const [method = '', pattern = ''] = route.split(' ')
  const left = new Map(Object.entries(fields).filter(([, value]) => value !== undefined))
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = left.get(name)
    left.delete(name)
    return encodeURIComponent(String(value ?? ''))
  })
  const query = new URLSearchParams()
  if (method === 'GET') for (const [name, value] of left) query.set(name, String(value))
  const body = method === 'GET' || method === 'DELETE' ? '' : stringifyLossless(Object.fromEntries(left))
  const { pathname, search } = new URL(`${url}/admin/v1${path}${String(query) === '' ? '' : `?${query}`}`)
  return { method, target: pathname + search, body }
}

interface Exchange {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Sends a request; resolves once the response begins. */
export const exchange = (url: URL, { body, timeoutMs, ...options }: Exchange): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const request = send(url, { ...options, agent: false }, resolve)
    request.setTimeout(timeoutMs, () => request.destroy(new Error('it took too long')))
    // Node says nothing of its own when it has reached none of a host's addresses.
    request.once('error', (error) => reject(error instanceof AggregateError ? error.errors[0] : error))
    request.end(body)
  })

async function send({ url, tokenFor, whenAway }: FoundService, call: Call): Promise<IncomingMessage> {
  const sent = requestOf(url, call)
  const { method, target, body } = sent
  const headers = {
    Authorization: `Bearer ${tokenFor(sent)}`,
    ...(body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` }),
  }
  const request = { method, headers, body, timeoutMs: COMMAND_WAITS_S * 1_000 }
  return exchange(new URL(target, url), request).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ECONNREFUSED' && whenAway !== undefined) throw new NoService(whenAway, { cause })
    throw new Error(`${url} does not respond: ${cause.message}`, { cause })
  })
}

const success = z.object({ rescode: z.literal(0), data: z.record(z.string(), z.unknown()) })
const failure = z.object({
  rescode: z.number(),
  data: z.object({
    message: z.string(),
    problems: z.array(z.object({ field: z.string(), problem: z.string() })).optional(),
  }),
})

async function dataOf({ url, whenRefused }: FoundService, response: IncomingMessage): Promise<unknown> {
  const parsed = parseLossless(new Uint8Array(await buffer(response)), Number.POSITIVE_INFINITY)
  const answer = 'value' in parsed ? parsed.value : undefined
  const succeeded = success.safeParse(answer)
  if (succeeded.success) return withDates(succeeded.data.data)
  const failed = failure.safeParse(answer)
  if (!failed.success) throw new Error(`${url} responds, but not as the admin API of Gatehouse does`)
  if (response.statusCode === 401 && whenRefused) throw new Error(whenRefused)
  const { message, problems } = failed.data.data
  if (problems?.length) throw new InvalidInput(problems)
  throw new Error(message.replace(/^Invalid request: /, ''))
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A text of that form may be a name: of a day that does not exist, say. */
function dateOr(text: string): Date | string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return text
  const date = fromEpochMilliseconds(at)
  return date.toISOString() === text ? date : text
}

/** Turns texts in the form of a date back into dates, which JSON does not have. */
function withDates(value: unknown): unknown {
  if (typeof value === 'string') return MOMENT.test(value) ? dateOr(value) : value
  if (Array.isArray(value)) return value.map(withDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withDates(inner)]))
}

/** Calls an operation. Its output is not validated: the service is expected to be of the same release. */
export async function ask<Output>(service: FoundService, call: Call): Promise<Output> {
  const data = await dataOf(service, await send(service, call))
  return z.custom<Output>((value) => typeof value === 'object').parse(data)
}

/** Streams the body of an answer without an envelope. */
export async function askForFile(service: FoundService, call: Call): Promise<AsyncIterable<Buffer>> {
  const response = await send(service, call)
  if (response.statusCode !== 200) await dataOf(service, response)
  return response
}
