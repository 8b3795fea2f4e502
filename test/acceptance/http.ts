import { Agent, type Dispatcher, request } from 'undici'

/** An answer, read completely. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Call {
  readonly method: string
  /** Path and query, sent as they are. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/** Sends a call to a process over HTTP, or into an app that runs inside the test with its own clock. */
export type Wire = (call: Call) => Promise<Answer>

const agent = new Agent({ connections: 64, pipelining: 1 })

export const httpWire =
  (origin: string, dispatcher: Dispatcher = agent): Wire =>
  async ({ method, path, headers, body }) => {
    const answer = await request({ origin, path, method, headers, body, dispatcher } as Parameters<typeof request>[0])
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

/** The part of a Fastify app that is needed here. */
interface Injectable {
  inject(call: { method: string; url: string; headers: object; payload?: string }): Promise<{
    statusCode: number
    headers: Record<string, string | string[] | number | undefined>
    body: string
  }>
}

export const injectWire =
  (app: unknown): Wire =>
  async ({ method, path, headers = {}, body }) => {
    const call = { method, url: path, headers, ...(body === undefined ? {} : { payload: body }) }
    const answer = await (app as Injectable).inject(call)
    return { status: answer.statusCode, headers: answer.headers as Answer['headers'], text: answer.body }
  }

export const header = (answer: Answer, name: string): string => {
  const value = answer.headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}

/** `name=value&…`, percent-encoded as the contract shows it: a space is %20. */
export const queryOf = (parameters: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&')
