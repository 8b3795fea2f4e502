import type { z } from 'zod'
import { isLoopbackHost } from '../lib/web/web-url.ts'
import type { AllowedAddress } from './allowed-address.ts'
import { hookProblems } from './people.ts'
import { settings } from './schema.ts'
import { upstreamProblems, withUpstream } from './upstream.ts'

type Settings = z.infer<typeof settings>

/** All settings of the service, checked and frozen, with those that the schema leaves optional resolved. */
export type Config = Readonly<Omit<Settings, keyof Resolved>> & Resolved

type Resolved = {
  readonly SHUTDOWN_DELAY_S: number
  readonly DEMO: boolean
  /** Why the demo is not started although DEMO is not set; a sentence that says how to change that. */
  readonly demoLeftOut: string | undefined
  readonly DEMO_PORT: number
  readonly DEMO_PARTNER_PORT: number
  readonly PARTNER_ADDRESS_ALLOW: readonly AllowedAddress[]
  /** Where people's browsers find the pages. */
  readonly PUBLIC_URL: string
  /** Where servers of micro-apps call A2–A6; PUBLIC_URL unless set. */
  readonly API_URL: string
  /** Where partners' programs call; PUBLIC_URL unless set. */
  readonly PARTNER_URL: string
  readonly MAIL_FROM: string
}

/** Unusable settings: one line per problem, each with the variable's name and how to fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Connections of the embedded PostgreSQL that the service may use, out of 200; commands and jobs need the others. */
const EMBEDDED_CONNECTIONS = 180

const settingsProblems = (config: Settings): string[] => {
  const problems: string[] = []
  const missingKey = config.SECRET_KEY === undefined
  const remedy = 'set it to a value that you keep; generate one with: openssl rand -base64 48'
  if (config.NODE_ENV === 'production' && missingKey) problems.push(`SECRET_KEY is required in production: ${remedy}`)
  else if (config.DATABASE_URL && missingKey) problems.push(`SECRET_KEY is required with DATABASE_URL: ${remedy}`)
  if (config.NODE_ENV === 'production') problems.push(...productionProblems(config))
  problems.push(...hookProblems(config))
  const { HTTP_PROCESSES, DATABASE_POOL_SIZE, SHARDS } = config
  if (!config.DATABASE_URL && SHARDS > 1) problems.push('SHARDS needs DATABASE_URL: the embedded PostgreSQL has one')
  if (!config.DATABASE_URL && HTTP_PROCESSES * DATABASE_POOL_SIZE > EMBEDDED_CONNECTIONS) {
    problems.push(
      `HTTP_PROCESSES times DATABASE_POOL_SIZE is ${HTTP_PROCESSES * DATABASE_POOL_SIZE}: the embedded PostgreSQL takes ${EMBEDDED_CONNECTIONS}; lower one of them`,
    )
  }
  return problems
}

/** The addresses under which the service is reached. */
const ADDRESSES = ['PUBLIC_URL', 'API_URL', 'PARTNER_URL'] as const

function productionProblems(config: Settings): string[] {
  const problems: string[] = []
  if (config.PUBLIC_URL === undefined) {
    problems.push(
      'PUBLIC_URL is required in production: set it to the https:// address at which browsers reach the service',
    )
  }
  for (const name of ADDRESSES) {
    if (config.PUBLIC_URL_HTTP || !config[name]?.startsWith('http:')) continue
    problems.push(
      `${name} must be an https:// address in production; PUBLIC_URL_HTTP=on allows http:// anyway, but then passwords, sessions and codes travel unencrypted`,
    )
  }
  if (config.DEMO) problems.push('DEMO must not be on in production: its passwords are public in the README')
  if (config.ADMIN_TOKEN === DEMO_ADMIN_TOKEN) {
    problems.push(
      'ADMIN_TOKEN must not be the one of the demo in production: it is public; generate one with: openssl rand -base64 32',
    )
  }
  return problems
}

/** The demo must not be reachable by others, nor be in a database that is used for something else. */
function whyNoDemo(config: Settings): string | undefined {
  const { HOST, DATABASE_URL } = config
  const anyway = 'or set DEMO=on to start it anyway'
  if (!isLoopbackHost(HOST)) {
    return `HOST=${HOST} lets other machines connect, and the demo's passwords are public in the README. For the demo leave HOST at 127.0.0.1, ${anyway}.`
  }
  const open = ADDRESSES.find((name) => config[name] && !isLoopbackHost(new URL(config[name]).hostname))
  if (open) {
    return `${open} is not an address of this machine, and the demo's passwords are public in the README. For the demo unset ${open}, ${anyway}.`
  }
  if (DATABASE_URL !== undefined) {
    return `DATABASE_URL names your own database, and the demo would add users and secrets that are public in the README. For the demo unset DATABASE_URL, ${anyway}.`
  }
  return undefined
}

/** Used by the demo while only this machine can reach it. */
export const DEMO_ADMIN_TOKEN = 'demo-admin-token-for-local-use-only'

const localUrl = (port: number): string => `http://localhost:${port}`
const demoPartnerAddress = (port: number): AllowedAddress => ({
  network: { address: '127.0.0.1', bits: 32, family: 'ipv4' },
  port,
})

/** Reads the settings; an empty variable counts as not set. Throws ConfigError naming every bad one. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.keys(settings.shape).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
  const parsed = settings.safeParse(given)
  if (!parsed.success) {
    throw new ConfigError(
      [...new Set(parsed.error.issues.map((issue) => `${issue.path[0]?.toString()} ${issue.message}`))].join('\n'),
    )
  }
  const config = parsed.data
  const problems = [
    ...settingsProblems(config),
    ...upstreamProblems({ ...config, PUBLIC_URL: config.PUBLIC_URL ?? localUrl(config.PORT) }, given),
  ]
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  const undecided = config.NODE_ENV !== 'production' && config.DEMO === undefined
  const notLocal = whyNoDemo(config)
  const demoLeftOut = undecided ? notLocal : undefined
  const DEMO = config.DEMO ?? (undecided && demoLeftOut === undefined)
  const onlyHere = notLocal === undefined && (config.ADMIN_PORT === undefined || isLoopbackHost(config.ADMIN_HOST))
  // 0 is any free port
  const portAfter = (distance: number): number =>
    config.PORT === 0 || config.PORT + distance > 65_535 ? 0 : config.PORT + distance
  const DEMO_PARTNER_PORT = config.DEMO_PARTNER_PORT ?? portAfter(2)
  const PUBLIC_URL = config.PUBLIC_URL ?? localUrl(config.PORT)
  return Object.freeze({
    ...config,
    ...withUpstream(config),
    PUBLIC_URL,
    API_URL: config.API_URL ?? PUBLIC_URL,
    PARTNER_URL: config.PARTNER_URL ?? PUBLIC_URL,
    MAIL_FROM: config.MAIL_FROM ?? `Gatehouse <no-reply@${new URL(PUBLIC_URL).hostname}>`,
    SHUTDOWN_DELAY_S: config.SHUTDOWN_DELAY_S ?? (config.NODE_ENV === 'production' ? 3 : 0),
    DEMO,
    ADMIN_TOKEN: config.ADMIN_TOKEN ?? (DEMO && onlyHere ? DEMO_ADMIN_TOKEN : undefined),
    demoLeftOut,
    DEMO_PORT: config.DEMO_PORT ?? portAfter(1),
    DEMO_PARTNER_PORT,
    PARTNER_ADDRESS_ALLOW: config.PARTNER_ADDRESS_ALLOW ?? (DEMO ? [demoPartnerAddress(DEMO_PARTNER_PORT)] : []),
  })
}

/** Ports that were chosen when the service started, where the settings said 0. */
export interface ChosenPorts {
  readonly port: number
  readonly demoPartnerPort: number
}

/** Puts chosen ports into the addresses of the service and of the demo partner. */
export function withPorts(config: Config, { port, demoPartnerPort }: ChosenPorts): Config {
  const withPort = (url: string) => (url === localUrl(0) ? localUrl(port) : url)
  return Object.freeze({
    ...config,
    PORT: port,
    PUBLIC_URL: withPort(config.PUBLIC_URL),
    API_URL: withPort(config.API_URL),
    PARTNER_URL: withPort(config.PARTNER_URL),
    DEMO_PARTNER_PORT: demoPartnerPort,
    PARTNER_ADDRESS_ALLOW: config.PARTNER_ADDRESS_ALLOW.map((entry) =>
      entry.port === 0 ? demoPartnerAddress(demoPartnerPort) : entry,
    ),
  })
}

/** The raw environment, for what is not a setting: PGOPTIONS, a partner's secret for commands, child processes. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env
