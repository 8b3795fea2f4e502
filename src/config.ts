import type { z } from 'zod'
import { settings } from './settings.ts'

type Settings = z.infer<typeof settings>

/** Everything that the service can be told, checked and frozen. */
export type Config = Readonly<
  Omit<Settings, 'DEMO' | 'DEMO_PORT' | 'DEMO_PARTNER_PORT' | 'PARTNER_ADDRESS_ALLOW' | 'PUBLIC_URL' | 'MAIL_FROM'>
> & {
  readonly DEMO: boolean
  readonly DEMO_PORT: number
  readonly DEMO_PARTNER_PORT: number
  readonly PARTNER_ADDRESS_ALLOW: readonly string[]
  readonly PUBLIC_URL: string
  readonly MAIL_FROM: string
}

/** An unusable setting: one line a problem, each with the variable's name and the mend. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Of the embedded PostgreSQL; some are left for commands and jobs. */
const EMBEDDED_CONNECTIONS = 180

const mandatory = (config: Settings): string[] => {
  const problems: string[] = []
  const missingKey = config.SECRET_KEY === undefined
  const mend = 'set it to a value that you keep; make one with: openssl rand -base64 48'
  if (config.NODE_ENV === 'production' && missingKey) problems.push(`SECRET_KEY is required in production: ${mend}`)
  else if (config.DATABASE_URL && missingKey) problems.push(`SECRET_KEY is required with DATABASE_URL: ${mend}`)
  const { WORKERS, DATABASE_POOL_SIZE } = config
  if (!config.DATABASE_URL && WORKERS * DATABASE_POOL_SIZE > EMBEDDED_CONNECTIONS) {
    problems.push(
      `WORKERS times DATABASE_POOL_SIZE is ${WORKERS * DATABASE_POOL_SIZE}: the embedded PostgreSQL takes ${EMBEDDED_CONNECTIONS}; lower one of them`,
    )
  }
  return problems
}

const localUrl = (port: number): string => `http://localhost:${port}`

/** Reads the settings; an empty variable counts as not set. Throws ConfigError naming every bad one. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(
    Object.keys(settings.shape).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
  const parsed = settings.safeParse(given)
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('\n'))
  }
  const config = parsed.data
  const problems = mandatory(config)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  const DEMO = config.NODE_ENV !== 'production' && (config.DEMO ?? true)
  const PUBLIC_URL = config.PUBLIC_URL ?? localUrl(config.PORT)
  return Object.freeze({
    ...config,
    PUBLIC_URL,
    MAIL_FROM: config.MAIL_FROM ?? `Gatehouse <no-reply@${new URL(PUBLIC_URL).hostname}>`,
    DEMO,
    DEMO_PORT: config.DEMO_PORT ?? (config.PORT === 0 ? 0 : config.PORT + 1),
    DEMO_PARTNER_PORT: config.DEMO_PARTNER_PORT ?? (config.PORT === 0 ? 0 : config.PORT + 2),
    PARTNER_ADDRESS_ALLOW: config.PARTNER_ADDRESS_ALLOW ?? (DEMO ? ['127.0.0.1'] : []),
  })
}

/** For PORT=0, once a free port is chosen: the address of the service holds it. */
export const withPort = (config: Config, port: number): Config =>
  Object.freeze({
    ...config,
    PORT: port,
    PUBLIC_URL: config.PUBLIC_URL === localUrl(0) ? localUrl(port) : config.PUBLIC_URL,
  })

/** For what is no setting of the service: PGOPTIONS; and the secret that a partner's commands are given, and what they start. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env
