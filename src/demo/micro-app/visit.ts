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
  readonly access_token: string
  readonly refresh_token: string
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
export async function arrive(visit: Visit, client: Client, code?: string, returned = ''): Promise<void> {
  const state = [...visit.states].find((sent) => equalSecrets(sent, returned))
  visit.stray = state === undefined
  if (state === undefined) return
  visit.states.delete(state)
  visit.calls = []
  delete visit.tokens
  visit.refused = code === undefined
  if (code !== undefined) takeTokens(visit, 'A2 code exchange', await exchangeCode(client, code, state))
  await readUser(visit, client)
}

export async function renew(visit: Visit, client: Client): Promise<void> {
  if (!visit.tokens) return
  visit.calls = []
  takeTokens(visit, 'A3 refresh', await refresh(client, visit.tokens.refresh_token))
  await readUser(visit, client)
}

function takeTokens(visit: Visit, name: string, answer: Envelope): void {
  visit.calls.push({ name, answer })
  if (answer.rescode === 0) visit.tokens = answer.data as unknown as Tokens
}

async function readUser(visit: Visit, client: Client): Promise<void> {
  if (!visit.tokens) return
  const { access_token } = visit.tokens
  visit.calls.push({ name: 'A4 get_phonenumber', answer: await phoneNumber(client, access_token) })
  visit.calls.push({ name: 'A5 get_userinfo', answer: await userInfo(client, access_token) })
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
    jsTicket: visit.tokens ? jsTicket(visit.tokens.access_token) : undefined,
    calls: visit.calls.map(({ name, answer }) => ({
      name,
      text: JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'string' ? shorten(value) : value), 2),
    })),
  }
}
