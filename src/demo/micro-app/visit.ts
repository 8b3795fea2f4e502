import { randomBytes } from 'node:crypto'
import { jsTicket } from '../../authorization/resource/index.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import {
  authorizeUrl,
  type Client,
  type Envelope,
  exchangeCode,
  MAX_PENDING,
  phoneNumber,
  refresh,
  userInfo,
} from './gatehouse.ts'
import type { OidcVisit } from './oidc.ts'

/** A call of the micro-app's server, for the demo page. */
interface Call {
  readonly name: string
  readonly answer: Envelope
}

/** What the micro-app knows about one browser. A real app keeps this in its database. */
export interface Visit {
  /** States of the sign-ins in progress, one per tab. */
  readonly states: Set<string>
  /** A response has arrived that no sign-in of this browser asked for. */
  stray?: boolean
  refused?: boolean
  tokens?: Tokens
  calls: Call[]
  /** The same for OpenID Connect. */
  readonly oidc: OidcVisit
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Begins the flow: the state ties the response to this browser. */
export function begin(visit: Visit, client: Client): string {
  const state = randomBytes(16).toString('hex')
  const [oldest] = visit.states
  if (oldest !== undefined && visit.states.size >= MAX_PENDING) visit.states.delete(oldest)
  visit.states.add(state)
  visit.refused = false
  return authorizeUrl(client, state)
}

/** The user has returned; without a code, the user has refused. A response with an unknown state is ignored. */
export async function arrive(visit: Visit, client: Client, query: { code?: string; state?: string }): Promise<void> {
  const state = [...visit.states].find((sent) => equalSecrets(sent, query.state ?? ''))
  visit.stray = state === undefined
  if (state === undefined) return
  visit.states.delete(state)
  visit.calls = []
  delete visit.tokens
  visit.refused = query.code === undefined
  if (query.code !== undefined)
    await takeTokens(visit, 'A2 code exchange', await exchangeCode(client, query.code, state))
  await readUser(visit, client)
}

export async function renew(visit: Visit, client: Client): Promise<void> {
  if (!visit.tokens) return
  visit.calls = []
  await takeTokens(visit, 'A3 refresh', await refresh(client, visit.tokens.refreshToken))
  await readUser(visit, client)
}

async function takeTokens(visit: Visit, name: string, answer: Envelope): Promise<void> {
  visit.calls.push({ name, answer })
  if (answer.rescode !== 0) return
  const { access_token, refresh_token } = answer.data as {
    access_token: string
    refresh_token: string
  }
  visit.tokens = { accessToken: access_token, refreshToken: refresh_token }
}

async function readUser(visit: Visit, client: Client): Promise<void> {
  if (!visit.tokens) return
  const { accessToken } = visit.tokens
  visit.calls.push({
    name: 'A4 get_phonenumber',
    answer: await phoneNumber(client, accessToken),
  })
  visit.calls.push({
    name: 'A5 get_userinfo',
    answer: await userInfo(client, accessToken),
  })
}

const shorten = (text: string): string => (/^gh\w\w_/.test(text) ? `${text.slice(0, 11)}… (kept on the server)` : text)

/** What the page may show: the user's data, and the raw responses with shortened tokens. */
export function describe(visit: Visit): object {
  const answerOf = (name: string) => visit.calls.find((call) => call.name.startsWith(name))?.answer.data
  return {
    refused: visit.refused ?? false,
    stray: visit.stray ?? false,
    user: answerOf('A5')?.uinfo,
    phone: answerOf('A4')?.phone_number,
    oidc: {
      failed: visit.oidc.failed,
      claims: visit.oidc.claims && JSON.stringify(visit.oidc.claims, null, 2),
    },
    jsTicket: visit.tokens ? jsTicket(visit.tokens.accessToken) : undefined,
    calls: visit.calls.map(({ name, answer }) => ({
      name,
      text: JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'string' ? shorten(value) : value), 2),
    })),
  }
}
