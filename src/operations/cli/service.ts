import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { operatorsAddress, readConfig } from '../../platform/config/index.ts'
import { addressOfRunning } from '../../platform/db/embedded/lock.ts'
import { keptSecrets } from '../../platform/db/embedded/secrets.ts'
import type { Clock } from '../../platform/lib/clock.ts'
import { deriveKeys } from '../../platform/lib/crypto/keys.ts'
import { isLoopbackHost, webUrl } from '../../platform/lib/web/web-url.ts'
import { issueCommandToken } from '../operators/index.ts'
import type { Terminal } from './terminal.ts'

export interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Empty if there is no body. */
  readonly body: string
}

/** The service that performs operations, and the token to send. */
export interface FoundService {
  /** Such as `https://gatehouse.internal:3001`, without a slash at the end. */
  readonly url: string
  tokenFor(request: SentRequest): string
  /** The message if nothing listens there, for a service on this machine. */
  readonly whenAway?: string
  /** The message if the token is refused, if there is more to say than that. */
  readonly whenRefused?: string
}

/** No service answers on this machine. */
export class NoService extends Error {
  override readonly name = 'NoService'
}

/** The command needs the database of the service, and GATEHOUSE_URL points elsewhere. */
export class OnlyOnTheMachine extends Error {
  override readonly name = 'OnlyOnTheMachine'
  override readonly message =
    'this works only on the machine of the service: unset GATEHOUSE_URL, so that its database is used'
}

const HOW_TO_START = 'start the service first (npm start)'
const TOKEN_REFUSED =
  'GATEHOUSE_TOKEN is not accepted: it is incomplete or of another service, has expired or was revoked, or its operator is disabled'
const ELSEWHERE = 'for a service elsewhere set GATEHOUSE_URL and GATEHOUSE_TOKEN'

/** Whether the address of a service is given; by default it is the one on this machine. */
export const isElsewhere = ({ env }: Terminal, url?: string): boolean => Boolean(url ?? env.GATEHOUSE_URL)

interface Caller {
  readonly terminal: Terminal
  readonly clock: Clock
}

/** `url` is the value of `--url`. Throws NoService. */
export async function findService({ terminal, clock }: Caller, url?: string): Promise<FoundService> {
  const { env } = terminal
  const { GATEHOUSE_URL, GATEHOUSE_TOKEN: token } = env
  if (url) return givenService('--url', url, env)
  if (GATEHOUSE_URL) return givenService('GATEHOUSE_URL', GATEHOUSE_URL, env)
  const own = await serviceOfMachine(env)
  const away = `nothing answers at ${own.url}: ${HOW_TO_START}, or give this command the settings of the one that runs; ${ELSEWHERE}`
  if (token) return { url: own.url, tokenFor: () => token, whenAway: away, whenRefused: TOKEN_REFUSED }
  const keys = deriveKeys(own.secretKey())
  return {
    url: own.url,
    tokenFor: (request) => issueCommandToken(keys, { ...request, user: userOfMachine() }, clock.now()),
    whenAway: away,
    whenRefused: `the service at ${own.url} has another SECRET_KEY than this command: run it with the settings of the service, or set GATEHOUSE_TOKEN`,
  }
}

/** The service with these settings or, with the embedded database, the one that runs on DATA_DIR. */
async function serviceOfMachine(env: Terminal['env']) {
  const config = readConfig(env)
  if (config.DATABASE_URL) return { url: operatorsAddress(config), secretKey: () => config.SECRET_KEY ?? '' }
  const url = await addressOfRunning(config.DATA_DIR)
  if (!url)
    throw new NoService(`no service runs on DATA_DIR ${resolve(config.DATA_DIR)}: ${HOW_TO_START}; ${ELSEWHERE}`)
  return { url, secretKey: () => config.SECRET_KEY ?? keptSecrets(resolve(config.DATA_DIR)).secretKey }
}

/** Throws if the address is invalid, or if the token would go to another machine unencrypted. */
function givenService(name: string, url: string, env: Terminal['env']): FoundService {
  const { GATEHOUSE_TOKEN: token, GATEHOUSE_URL_HTTP: overHttp } = env
  const { error } = webUrl.safeParse(url) // its problems do not repeat the address, which may hold a password
  if (error) throw new Error(`${name} ${error.issues[0]?.message}`)
  if (/[?#]/.test(url)) throw new Error(`${name} must not have a query or a fragment: paths are appended to it`)
  if (!token) throw new Error(`${name} also needs an operator’s token in GATEHOUSE_TOKEN`)
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || overHttp === 'on' || isLoopbackHost(hostname)) {
    return { url: url.replace(/\/+$/, ''), tokenFor: () => token, whenRefused: TOKEN_REFUSED }
  }
  throw new Error(
    `${name} is plain http, so whoever is on the way could read the token: use https://, or a tunnel to this machine (ssh -L), or set GATEHOUSE_URL_HTTP=on in a network that only you use`,
  )
}

/** The system user who runs the command, for the audit log. */
export function userOfMachine(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}` // in a container the user may have no name
  }
}
