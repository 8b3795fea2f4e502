import { isLoopbackHost } from '../lib/web/web-url.ts'
import type { AllowedAddress } from './allowed-address.ts'
import { DEMO_ADMIN_TOKEN, localUrl, type Settings, settingsProblems, whyNoDemo, withUpstream } from './problems.ts'
import { settings } from './schema.ts'

/** Settings that the schema leaves optional and that always have a value here. */
type Resolved =
  | 'SHUTDOWN_DELAY_S'
  | 'DEMO'
  | 'DEMO_PORT'
  | 'DEMO_PARTNER_PORT'
  | 'PARTNER_ADDRESS_ALLOW'
  | 'PUBLIC_URL'
  | 'API_URL'
  | 'PARTNER_URL'
  | 'MAIL_FROM'

/** All settings of the service, checked and frozen. */
export type Config = Readonly<Omit<Settings, Resolved>> & {
  readonly [Name in Resolved]: NonNullable<Settings[Name]>
} & {
  /** Why the demo is not started although DEMO is not set; a sentence that says how to change that. */
  readonly demoLeftOut: string | undefined
}

/** Unusable settings: one line per problem, each with the variable's name and how to fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

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
  const problems = parsed.success
    ? settingsProblems(parsed.data, given)
    : [...new Set(parsed.error.issues.map((issue) => `${issue.path[0]?.toString()} ${issue.message}`))]
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.join('\n'))
  const config = parsed.data
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

/** Puts ports chosen at the start, where settings said 0, into the addresses of the service and the demo partner. */
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

export interface ChosenPorts {
  readonly port: number
  readonly demoPartnerPort: number
}

/** Where programs on this machine reach a wildcard address. */
const LOOPBACK_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The URL at which programs on the same machine reach the operators' listener. */
export function operatorsAddress({ HOST, PORT, ADMIN_HOST, ADMIN_PORT }: OperatorsListener): string {
  const [host, port] = ADMIN_PORT === undefined ? [HOST, PORT] : [ADMIN_HOST, ADMIN_PORT]
  const hostname = LOOPBACK_FOR[host] ?? host
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}
type OperatorsListener = Pick<Config, 'HOST' | 'PORT' | 'ADMIN_HOST' | 'ADMIN_PORT'>

/**
 * How many seconds a shutdown may take. Each has time to end after the one before it: an HTTP process by itself, one that
 * hangs and is killed, the whole service.
 */
export function longestShutdown(config: Pick<Config, 'SHUTDOWN_DELAY_S' | 'SHUTDOWN_GRACE_S'>) {
  const seconds = config.SHUTDOWN_DELAY_S + config.SHUTDOWN_GRACE_S
  return { httpProcess: seconds + 5, hangingHttpProcess: seconds + 7, service: seconds + 10 }
}

/** The raw environment, for what is not a setting: PGOPTIONS, a partner's secret for commands, child processes. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env
