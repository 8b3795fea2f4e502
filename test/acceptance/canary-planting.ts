import { connect } from 'node:net'
import type { Canaries } from './canaries.ts'
import type { Endpoint, Walked } from './canary-walk.ts'
import { queryOf } from './http.ts'
import { ADMIN_TOKEN } from './system.ts'

const PARAMETERS = [
  ...[
    'app_key',
    'app_secret',
    'code',
    'state',
    'redirect_uri',
    'response_type',
    'scope',
    'grant_type',
    'refresh_token',
  ],
  ...[
    'access_token',
    'code_verifier',
    'code_challenge',
    'code_challenge_method',
    'passport',
    'password',
    'phone_number',
  ],
  ...['return_to', 'ui_locales', 'cid', 'user_id', 'unknown'],
]
const HEADERS = [
  ...['cookie', 'referer', 'origin', 'user-agent', 'x-forwarded-for', 'x-real-ip', 'forwarded', 'x-request-id'],
  ...['accept', 'accept-language', 'content-type', 'if-none-match', 'traceparent', 'x-custom'],
]

type Send = (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<unknown>

/**
 * Paths for operators and balancers: parameters that they do not know are all treated alike and planted in one request.
 */
const KNOWS_ITS_OWN = /^\/(?:admin\/|healthz|readyz|$)/

/** Names that are planted together; `own` are the parameters that the endpoint knows. */
function groupsOf(path: string, own: readonly string[]): string[][] {
  const names = [...new Set([...PARAMETERS, ...own])]
  if (!KNOWS_ITS_OWN.test(path)) return names.map((name) => [name])
  return [...own.map((name) => [name]), names.filter((name) => !own.includes(name))]
}

async function plantInQuery(canaries: Canaries, { method, path, query, headers }: Endpoint, send: Send): Promise<void> {
  const where = `${method} ${path}`
  for (const names of groupsOf(path, Object.keys(query))) {
    const planted = Object.fromEntries(names.map((name) => [name, canaries.plant(`${where}: query ${name}`)]))
    await send(method, `${path}?${queryOf({ ...query, ...planted })}`, { ...headers })
    await send(method, `${path}?${queryOf(query)}&${queryOf(planted)}&${queryOf(planted)}`, { ...headers })
  }
  const raw = canaries.plant(`${where}: query, undecodable, too long, as a name`)
  for (const text of [
    `x=%zz${raw}`,
    `${raw}=1`,
    `${raw}`,
    `x=%ff${raw}`,
    `x=${raw}%00`,
    `x=${raw}${'y'.repeat(9_000)}`,
  ]) {
    await send(method, `${path}?${queryOf(query)}&${text}`, { ...headers })
    await send(method, `${path}?${text}`, { accept: 'text/html' })
  }
}

async function plantInHeaders(
  canaries: Canaries,
  { method, path, query, headers }: Endpoint,
  send: Send,
): Promise<void> {
  const target = `${path}?${queryOf(query)}`
  for (const name of HEADERS) {
    const planted = canaries.plant(`${method} ${path}: header ${name}`)
    await send(method, target, {
      ...headers,
      [name]: name === 'cookie' ? `gatehouse_session=${planted}; x=${planted}` : planted,
    })
  }
  const planted = canaries.plant(`${method} ${path}: header authorization`)
  const credentials = Buffer.from(`app:${planted}`).toString('base64')
  for (const value of [`Bearer ${planted}`, `Basic ${planted}`, `Basic ${credentials}`, `Basic !${planted}`, planted]) {
    await send(method, target, { ...headers, authorization: value })
  }
}

const AS_VALUES = [(text: string) => text, (text: string) => [text], (text: string) => ({ [text]: text })]

async function plantInBody(
  canaries: Canaries,
  { method, path, query, headers, form, json }: Endpoint,
  send: Send,
): Promise<void> {
  if (method === 'GET') return
  const target = `${path}?${queryOf(query)}`
  const asForm = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
  const asJson = { ...headers, 'content-type': 'application/json' }
  for (const names of groupsOf(path, Object.keys({ ...form, ...json }))) {
    const planted = names.map((name) => [name, canaries.plant(`${method} ${path}: body ${name}`)] as const)
    await send(method, target, asForm, queryOf({ ...form, ...Object.fromEntries(planted) }))
    // An app_key is no secret: it may be logged.
    const secret = planted.filter(([name]) => name !== 'app_key')
    for (const asValue of AS_VALUES) {
      const values = Object.fromEntries(secret.map(([name, text]) => [name, asValue(text)]))
      if (secret.length > 0) await send(method, target, asJson, JSON.stringify({ ...json, ...values }))
    }
  }
  const planted = canaries.plant(`${method} ${path}: body, malformed`)
  for (const type of [
    asForm,
    asJson,
    { ...headers, 'content-type': 'text/plain' },
    { ...headers, 'content-type': planted },
  ]) {
    for (const body of [
      planted,
      `{"password":"${planted}`,
      `{"password":${planted}}`,
      `password=${planted}&password=${planted}%zz`,
    ]) {
      await send(method, target, type, body)
    }
  }
  await send(method, target, asJson, `{"password":"${planted}${'y'.repeat(70_000)}"}`)
}

async function plantInPaths(canaries: Canaries, send: Send): Promise<void> {
  const before = [
    '',
    '/oauth',
    '/oauth/v2',
    '/oauth/v2/authorize',
    '/oauth/v2/api',
    '/oauth/v2/api/token',
    '/assets',
    '/mtp/api',
  ]
  for (const prefix of [
    ...before,
    '/oauth/v2/api/resource',
    '/admin',
    '/admin/v1',
    '/admin/v1/users',
    '/admin/v1/grants',
    '/sign-in',
  ]) {
    const planted = canaries.plant(`path ${prefix}/…`)
    for (const tail of [
      planted,
      `${planted}/`,
      `%zz${planted}`,
      `${planted}%ff`,
      `..%2f${planted}`,
      `${planted}?x=${planted}`,
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        await send(method, `${prefix}/${tail}`, { accept: 'text/html' })
        await send(method, `${prefix}/${tail}`, { authorization: `Bearer ${ADMIN_TOKEN}` })
      }
    }
  }
}

async function plantInBrokenHttp(canaries: Canaries, origin: string): Promise<void> {
  const { hostname, port } = new URL(origin)
  const planted = canaries.plant('what is not HTTP: request line, header, chunk, overlong')
  const target = `/oauth/v2/api/token?app_secret=${planted}`
  for (const text of [
    `${planted}\r\n\r\n`,
    `GET ${target} HTTP/9.9\r\nHost: x\r\n\r\n`,
    `FETCH ${target} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET ${target} ${planted} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET ${target}\u00ff HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: x\r\n${planted}\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: ${planted}\r\nContent-Length: ${planted}\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${planted}\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"${planted}`,
    `GET ${target}${'y'.repeat(140_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET http://${planted}@x/${planted}?${planted} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\nHost: ${planted}\r\nConnection: close\r\n\r\n`,
    `CONNECT ${planted}:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nExpect: ${planted}\r\nConnection: close\r\n\r\n`,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nUpgrade: ${planted}\r\nConnection: Upgrade\r\n\r\n`,
  ]) {
    await new Promise<void>((over) => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => over()).on('close', () => over())
      socket.on('data', () => socket.end())
      socket.write(text, 'latin1')
      setTimeout(() => socket.destroy(), 150)
    })
  }
}

/** Plants in each parameter, header and body field of each endpoint, in unknown paths, and in malformed HTTP. */
export const plantEverywhere = async (
  canaries: Canaries,
  { client, endpoints }: Walked,
  origin: string,
): Promise<void> => {
  const send: Send = (method, path, headers, body) => client.call(method, path, headers, body).catch(() => undefined)
  for (const endpoint of endpoints) {
    await plantInQuery(canaries, endpoint, send)
    await plantInHeaders(canaries, endpoint, send)
    await plantInBody(canaries, endpoint, send)
  }
  await plantInPaths(canaries, send)
  await plantInBrokenHttp(canaries, origin)
}
