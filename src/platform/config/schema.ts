import { z } from 'zod'
import { PROFILE_FIELDS, type ProfileField } from './people.ts'
import {
  allowedAddresses,
  baseUrl,
  choice,
  contactUris,
  databaseUrl,
  decimal,
  isNetwork,
  list,
  MAIL_SENDER,
  oldKeys,
  onOff,
  originUrl,
  parseSmtpUrl,
  pathPrefixes,
  ports,
  processes,
  whole,
} from './setting.ts'

const port = whole(1, 65_535)
const portOrAny = whole(0, 65_535)
const GENERATE = 'generate one with: openssl rand -base64 32'

/** The name of a claim (OIDC Core §5.1; providers add their own, some named by a URL). */
const claimName = z.string().regex(/^[!-~]{1,200}$/, 'must be the name of a claim, such as sub')

/** Every setting, with its default. What they mean: views/locales/settings.en.json, from which SETTINGS is made. */
export const settings = z.object({
  NODE_ENV: choice('development', 'production', 'test').default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: portOrAny.default(3000),
  PUBLIC_URL: originUrl.optional(),
  API_URL: originUrl.optional(),
  PARTNER_URL: originUrl.optional(),
  PUBLIC_URL_HTTP: onOff.default(false),
  SECURITY_CONTACT: contactUris.default([]),
  TRUST_PROXY: list
    .refine(
      (items) => items.every(isNetwork),
      'must be IP addresses or networks such as 10.0.0.0/8, separated by commas',
    )
    .default([]),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_WAIT_S: whole(0, 3_600).default(60),
  DATABASE_POOL_SIZE: whole(1, 500).default(10),
  SHARDS: whole(1, 64)
    .refine((count) => Number.isInteger(Math.log2(count)), 'must be a power of two: 1, 2, 4, 8, …')
    .default(1),
  DATABASE_PLANNING: choice('forced', 'server').default('forced'),
  BATCH_ITEMS: whole(1, 1_000).default(200),
  BATCHES_AT_ONCE: whole(1, 100).default(2),

  // How much one process handles at once
  MAX_CONNECTIONS: whole(10, 1_000_000).default(5_000),
  HEALTH_PORT: port.optional(),
  MAX_REQUESTS: whole(1, 100_000).default(500),
  SIGN_IN_QUEUE: whole(1, 10_000).default(50),
  QUEUE_LENGTH: whole(1, 100_000).default(1_000),
  QUEUE_WAIT_MS: whole(100, 60_000).default(3_000),
  BODY_MEMORY_MB: whole(4, 4_096).default(64),
  BODY_TIMEOUT_S: whole(1, 300).default(10),

  DATA_DIR: z.string().default('.data'),
  MIGRATE: onOff.default(true),
  SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters; generate one with: openssl rand -base64 48')
    .optional(),
  SECRET_KEYS_OLD: oldKeys.default([]),

  // Operators
  ADMIN_TOKEN: z
    .string()
    .min(24, `must have at least 24 characters; ${GENERATE}`)
    .regex(/^[!-~]*$/, `must be visible ASCII characters without spaces, which every program can send; ${GENERATE}`)
    .optional(),
  ADMIN_PORT: port.optional(),
  ADMIN_HOST: z.string().default('127.0.0.1'),
  OPERATOR_SESSION_S: whole(300, 604_800).default(43_200),
  OPERATOR_IDLE_S: whole(60, 86_400).default(1_800),
  ACCOUNT_DELETION: choice('off', 'request', 'after-14-days').default('request'),
  ACCESS_LEDGER_DAYS: whole(1, 36_500).default(365),
  AUDIT_DAYS: whole(0, 36_500).default(1_095),

  // Micro-apps
  ENVELOPE_HTTP_STATUS: choice('200', 'native').default('200'),
  ACCESS_TOKEN_LIFETIME_S: whole(60, 31_536_000).default(604_800),
  ACCESS_TOKENS_PER_GRANT: whole(1, 10_000).default(100),
  REFRESHES_PER_MINUTE: whole(1, 10_000_000).default(60_000),
  CODE_DUPLICATE_WINDOW_S: whole(0, 300).default(60),
  REFRESH_DUPLICATE_WINDOW_S: whole(0, 300).default(60),
  SIGNING_KEY_LEAD_S: whole(0, 604_800).default(3_600),
  PUSHED_REQUESTS_PER_MINUTE: whole(1, 1_000_000).default(600),
  PUSHED_BYTES_PER_MINUTE: whole(16_384, 1_000_000_000).default(8_388_608),
  PHONE_COUNTRY_CODE: whole(1, 999).default(86),
  CLIENT_FAILURES: whole(1, 100_000).default(20),
  AUTHORIZE_PER_MINUTE: whole(1, 1_000_000).default(300),
  PAGES_PER_MINUTE: whole(1, 1_000_000).default(1_200),

  // Logs and traces
  LOG_LEVEL: choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
  LOG_REQUESTS: choice('failures', 'all', 'off').default('failures'),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
  OTEL_SERVICE_NAME: z.string().default('gatehouse'),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1).default(1),
  SLOW_MS: whole(1, 600_000).default(1_000),

  // Calls of partners and to them
  MTP_PATH_PREFIXES: pathPrefixes.default(['', '/rhone']).transform((prefixes) => [...new Set(['', ...prefixes])]),
  MTP_CLOCK_SKEW_S: whole(1, 86_400).default(600),
  PARTNER_ADDRESS_ALLOW: allowedAddresses.optional(),
  PARTNER_PORTS: ports.default([]),
  PRICE_REMOVAL_HOLD_S: whole(0, 86_400).default(60),
  ORDER_PERSONAL_DATA_DAYS: whole(0, 36_500).default(0),
  ORDER_ID_BITS: choice('53', '63').default('53').transform(Number),

  // People
  SESSION_LIFETIME_S: whole(300, 31_536_000).default(43_200),
  SIGN_IN_FAILURES_PER_PASSPORT: whole(1, 10_000).default(5),
  SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE: whole(1, 1_000_000).default(50),
  SIGN_IN_FAILURES_PER_ADDRESS: whole(1, 100_000).default(50),
  SECOND_FACTOR: choice('off', 'offered', 'required').default('offered'),
  PASSKEYS: onOff.default(true),
  PASSWORD_RESET: choice('off', 'mail', 'hook').default('off'),
  PROFILE_OWNED: list
    .refine(
      (fields) => fields.every((field) => (PROFILE_FIELDS as readonly string[]).includes(field)),
      `must be of ${PROFILE_FIELDS.join(', ')}, separated by commas`,
    )
    .transform((fields) => fields as ProfileField[])
    .default([]),
  DEVELOPERS: choice('open', 'invited', 'off').default('open'),
  OPERATORS_MAIL: z.email('must be one mail address').max(254).optional(),
  PASSWORD_RESET_HOOK: z.url({ protocol: /^https?$/, error: 'must be an https:// address' }).optional(),
  PASSWORD_RESET_HOOK_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and at least 24 bytes in Base64')
    .optional(),

  // Sign-in at the platform's own OpenID provider
  UPSTREAM_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .refine((text) => !/[?#]|:\/\/[^/]*@/.test(text), 'must not have a query, a fragment or a user name')
    .optional(),
  UPSTREAM_CLIENT_ID: z.string().max(512).optional(),
  UPSTREAM_CLIENT_SECRET: z.string().min(8, 'must have at least 8 characters').max(1_024).optional(),
  UPSTREAM_SCOPE: z
    .string()
    .regex(/^[!-~]+( [!-~]+)*$/, { error: 'must be scopes, separated by spaces', abort: true })
    .refine((text) => text.split(' ').includes('openid'), 'must contain openid')
    .default('openid profile phone'),
  UPSTREAM_CID: claimName
    .refine(
      (text) => !/^\d+$/.test(text) || (/^(0|[1-9]\d*)$/.test(text) && Number(text) <= 2_147_483_647),
      'must be the name of a claim, or a whole number up to 2147483647',
    )
    .optional(),
  UPSTREAM_USER_ID: claimName.default('sub'),

  HTTP_PROCESSES: processes.default(1),
  SANDBOX_WAIT_S: whole(5, 3_600).default(300),
  SMTP_URL: z
    .string()
    .refine(
      (text) => parseSmtpUrl(text) !== undefined,
      'must be smtp(s)://user:password@host:port, with special characters percent-encoded',
    )
    .optional(),
  MAIL_FROM: z.string().regex(MAIL_SENDER, 'must be a@b.example, or Name <a@b.example>').optional(),
  MAIL_FOLDER: z.string().optional(),
  JOBS: onOff.default(true),
  SHUTDOWN_DELAY_S: whole(0, 120).optional(),
  SHUTDOWN_GRACE_S: whole(0, 600).default(10),
  DEMO: onOff.optional(),
  DEMO_PORT: portOrAny.optional(),
  DEMO_PARTNER_PORT: portOrAny.optional(),
})
