import type { z } from 'zod'
import { isLoopbackHost } from '../lib/web/web-url.ts'
import { isException } from './allowed-address.ts'
import { PROFILE_FIELDS } from './people.ts'
import type { settings } from './schema.ts'

export type Settings = z.output<typeof settings>

/** Used by the demo while only this machine can reach it. */
export const DEMO_ADMIN_TOKEN = 'demo-admin-token-for-local-use-only'

/** The addresses under which the service is reached. */
const ADDRESSES = ['PUBLIC_URL', 'API_URL', 'PARTNER_URL'] as const

/** Connections of the embedded PostgreSQL that the service may use, out of 200; commands and jobs need the others. */
const EMBEDDED_CONNECTIONS = 180

type Rule = readonly [isBroken: boolean, problem: string]

const broken = (rules: readonly Rule[]): string[] => rules.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []))

/** Settings that contradict each other or are missing; `given` is what the environment sets. */
export function settingsProblems(config: Settings, given: Readonly<Record<string, string>>): string[] {
  const { DATABASE_URL, SHARDS, PASSWORD_RESET_HOOK: hook } = config
  const production = config.NODE_ENV === 'production'
  const embedded = DATABASE_URL === undefined
  const connections = config.HTTP_PROCESSES * config.DATABASE_POOL_SIZE
  const missingKey = config.SECRET_KEY === undefined
  const remedy = 'set it to a value that you keep; generate one with: openssl rand -base64 48'
  const isPlain = (name: (typeof ADDRESSES)[number]) => !config.PUBLIC_URL_HTTP && config[name]?.startsWith('http:')
  return broken([
    [missingKey && production, `SECRET_KEY is required in production: ${remedy}`],
    [missingKey && !production && !embedded, `SECRET_KEY is required with DATABASE_URL: ${remedy}`],
    [
      production && config.PUBLIC_URL === undefined,
      'PUBLIC_URL is required in production: set it to the https:// address at which browsers reach the service',
    ],
    ...ADDRESSES.map(
      (name): Rule => [
        production && isPlain(name) === true,
        `${name} must be an https:// address in production; PUBLIC_URL_HTTP=on allows http:// anyway, but then passwords, sessions and codes travel unencrypted`,
      ],
    ),
    [production && config.DEMO === true, 'DEMO must not be on in production: its passwords are public in the README'],
    [
      production && config.ADMIN_TOKEN === DEMO_ADMIN_TOKEN,
      'ADMIN_TOKEN must not be the one of the demo in production: it is public; generate one with: openssl rand -base64 32',
    ],
    [
      config.PASSWORD_RESET === 'hook' && !(hook && config.PASSWORD_RESET_HOOK_SECRET),
      'PASSWORD_RESET=hook needs PASSWORD_RESET_HOOK and PASSWORD_RESET_HOOK_SECRET',
    ],
    [
      hook !== undefined && new URL(hook).protocol === 'http:' && !isException(config, new URL(hook)),
      'PASSWORD_RESET_HOOK must be an https:// address: what is sent there sets passwords. http:// is for hosts and addresses of PARTNER_ADDRESS_ALLOW alone',
    ],
    [embedded && SHARDS > 1, 'SHARDS needs DATABASE_URL: the embedded PostgreSQL has one'],
    [
      embedded && connections > EMBEDDED_CONNECTIONS,
      `HTTP_PROCESSES times DATABASE_POOL_SIZE is ${connections}: the embedded PostgreSQL takes ${EMBEDDED_CONNECTIONS}; lower one of them`,
    ],
  ]).concat(upstreamProblems(config, given))
}

/** Settings that the OpenID provider needs, that need it, or that contradict it. */
function upstreamProblems(config: Settings, given: Readonly<Record<string, string>>): string[] {
  const { UPSTREAM_ISSUER, PUBLIC_URL = localUrl(config.PORT), PROFILE_OWNED } = config
  if (UPSTREAM_ISSUER === undefined) {
    return Object.keys(given)
      .filter((name) => name.startsWith('UPSTREAM_'))
      .map((name) => `${name} needs UPSTREAM_ISSUER: set that too, or unset ${name}`)
  }
  const { protocol, hostname, origin } = new URL(UPSTREAM_ISSUER)
  const needed = ['UPSTREAM_CLIENT_ID', 'UPSTREAM_CLIENT_SECRET', 'UPSTREAM_CID'] as const
  return broken([
    ...needed.map(
      (name): Rule => [config[name] === undefined, `UPSTREAM_ISSUER needs ${name}: set it, or unset UPSTREAM_ISSUER`],
    ),
    [
      protocol === 'http:' && config.NODE_ENV === 'production' && !isLoopbackHost(hostname),
      'UPSTREAM_ISSUER must be an https:// address in production, unless it is of this machine',
    ],
    [origin === PUBLIC_URL, 'UPSTREAM_ISSUER is this service itself (PUBLIC_URL): people cannot sign in there'],
    ...Object.keys(OFF_WITH_UPSTREAM).map(
      (name): Rule => [
        (given[name] ?? 'off') !== 'off',
        `${name} must be off with UPSTREAM_ISSUER, where people prove who they are: unset it`,
      ],
    ),
    [
      'PROFILE_OWNED' in given && !PROFILE_FIELDS.every((field) => PROFILE_OWNED.includes(field)),
      'PROFILE_OWNED must name every field with UPSTREAM_ISSUER, which tells them: unset it',
    ],
  ])
}

/** What people do at the provider instead. */
const OFF_WITH_UPSTREAM = { SECOND_FACTOR: 'off', PASSKEYS: false, PASSWORD_RESET: 'off' } as const

/** Settings that a provider overrides: it also owns the whole profile. */
export const withUpstream = ({ UPSTREAM_ISSUER }: Settings) =>
  UPSTREAM_ISSUER === undefined ? {} : { ...OFF_WITH_UPSTREAM, PROFILE_OWNED: [...PROFILE_FIELDS] }

export const localUrl = (port: number): string => `http://localhost:${port}`

/**
 * Why the demo is not started although DEMO is not set, and how to change that: it must not be reachable by others, nor
 * be in a database that is used for something else.
 */
export function whyNoDemo(config: Settings): string | undefined {
  const { HOST, DATABASE_URL } = config
  const anyway = 'or set DEMO=on to start it anyway'
  const isElsewhere = (url: string | undefined) => url !== undefined && !isLoopbackHost(new URL(url).hostname)
  return broken([
    [
      !isLoopbackHost(HOST),
      `HOST=${HOST} lets other machines connect, and the demo's passwords are public in the README. For the demo leave HOST at 127.0.0.1, ${anyway}.`,
    ],
    ...ADDRESSES.map(
      (name): Rule => [
        isElsewhere(config[name]),
        `${name} is not an address of this machine, and the demo's passwords are public in the README. For the demo unset ${name}, ${anyway}.`,
      ],
    ),
    [
      DATABASE_URL !== undefined,
      `DATABASE_URL names your own database, and the demo would add users and secrets that are public in the README. For the demo unset DATABASE_URL, ${anyway}.`,
    ],
  ])[0]
}
