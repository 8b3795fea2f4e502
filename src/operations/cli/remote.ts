import type { Command } from 'commander'
import { z } from 'zod'
import { fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { parseLossless, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { isLoopbackHost, webUrl } from '../../platform/lib/web/web-url.ts'
import { PERMISSIONS } from '../actions/index.ts'

/** The commands over the admin API of a running service, with an operator's token, instead of on its database. */

export interface Remote {
  /** Address of the service, such as `https://gatehouse.internal:3001`. */
  readonly url: string
  /** An operator's, or ADMIN_TOKEN. */
  readonly token: string
  /** GATEHOUSE_URL_HTTP: the token may go over plain http. */
  readonly overHttp: boolean
}

/** One request below /admin/v1. */
export interface RemoteCall {
  /** Method and path; `:name` stands for the field of that name. */
  readonly route: string
  /** What the path does not take goes into the query of a GET, and else into the body. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The command needs the database of the service. */
export class OnlyOnTheMachine extends Error {
  override readonly name = 'OnlyOnTheMachine'
  override readonly message =
    'this works only on the machine of the service: unset GATEHOUSE_URL, so that its database is used'
}

/** Undefined unless GATEHOUSE_URL is set. */
export function remoteOf(env: Readonly<Record<string, string | undefined>>): Remote | undefined {
  const { GATEHOUSE_URL: url, GATEHOUSE_TOKEN: token, GATEHOUSE_URL_HTTP: overHttp } = env
  return url ? { url, token: token ?? '', overHttp: overHttp === 'on' } : undefined
}

/** The words of a command without those of its program: `partner members list`. */
function nameOf(command: Command): string {
  const words: string[] = []
  for (let one: Command | null = command; one?.parent; one = one.parent) words.unshift(one.name())
  return words.join(' ')
}

/** The route of the operation that the command carries out. */
export function routeOf(command: Command): string {
  const name = nameOf(command)
  const found = PERMISSIONS.find((permission) => permission.command === name)
  if (found?.route === undefined) throw new OnlyOnTheMachine()
  return found.route
}

/** Long enough for the pull of a whole catalogue. */
const RESPONSE_TIMEOUT_MS = 600_000

/** Throws if the address is invalid, or the token would go to another machine unencrypted. */
function checkRemote({ url, token, overHttp }: Remote): void {
  const { error } = webUrl.safeParse(url) // its problems do not repeat the address, which may hold a password
  if (error) throw new Error(`GATEHOUSE_URL ${error.issues[0]?.message}`)
  if (/[?#]/.test(url)) throw new Error('GATEHOUSE_URL must not have a query or a fragment: paths are appended to it')
  if (token === '') throw new Error('GATEHOUSE_URL also needs an operator’s token in GATEHOUSE_TOKEN')
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || overHttp || isLoopbackHost(hostname)) return
  throw new Error(
    'GATEHOUSE_URL is plain http, so whoever is on the way could read the token: use https://, or a tunnel to this machine (ssh -L), or set GATEHOUSE_URL_HTTP=on in a network that only you use',
  )
}

async function send(remote: Remote, { route, fields }: RemoteCall) {
  checkRemote(remote)
  const { url, token } = remote
  const [method = '', pattern = ''] = route.split(' ')
  const left = new Map(Object.entries(fields).filter(([, value]) => value !== undefined))
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = left.get(name)
    left.delete(name)
    return encodeURIComponent(String(value ?? ''))
  })
  const query = new URLSearchParams()
  if (method === 'GET') for (const [name, value] of left) query.set(name, String(value))
  const body = method === 'GET' || method === 'DELETE' ? null : stringifyLossless(Object.fromEntries(left))
  const target = `${url.replace(/\/+$/, '')}/admin/v1${path}${String(query) === '' ? '' : `?${query}`}`
  const { request } = await import('undici') // most commands ask the database
  return request(target, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    },
    body,
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  }).catch((error: Error) => {
    throw new Error(`${url} does not respond: ${error.message}`, { cause: error })
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

function dataOf(url: string, bytes: ArrayBuffer): unknown {
  const parsed = parseLossless(new Uint8Array(bytes), Number.POSITIVE_INFINITY)
  const answer = 'value' in parsed ? parsed.value : undefined
  const succeeded = success.safeParse(answer)
  if (succeeded.success) return withDates(succeeded.data.data)
  const failed = failure.safeParse(answer)
  if (!failed.success) throw new Error(`${url} responds, but not as the admin API of Gatehouse does`)
  const { message, problems } = failed.data.data
  if (problems) throw new InvalidInput(problems)
  throw new Error(message.replace(/^Invalid request: /, ''))
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** JSON has no dates: texts in the form of a date become dates again. */
function withDates(value: unknown): unknown {
  if (typeof value === 'string') return MOMENT.test(value) ? fromEpochMilliseconds(Date.parse(value)) : value
  if (Array.isArray(value)) return value.map(withDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withDates(inner)]))
}

/**
 * The output of an operation as its route answers it. The service is expected to be of the same release, so the shape is
 * not checked again: operations have no schema of their output.
 */
export async function askRemote<Output>(remote: Remote, call: RemoteCall): Promise<Output> {
  const { body } = await send(remote, call)
  return z.custom<Output>((data) => typeof data === 'object').parse(dataOf(remote.url, await body.arrayBuffer()))
}

/** The bytes of an answer that is no envelope, as they come. */
export async function streamRemote(remote: Remote, call: RemoteCall): Promise<AsyncIterable<Buffer>> {
  const { statusCode, body } = await send(remote, call)
  if (statusCode !== 200) dataOf(remote.url, await body.arrayBuffer())
  return body
}
