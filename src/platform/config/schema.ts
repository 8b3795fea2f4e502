import { z } from 'zod'
import { loadSettings } from './load.ts'
import { logSettings } from './log.ts'
import { operatorSettings } from './operators.ts'
import { partnerSettings } from './partner.ts'
import { peopleSettings } from './people.ts'
import { contactUris, databaseUrl, isNetwork, list, oldKeys, onOff, originUrl, processes, whole } from './setting.ts'
import { MAIL_SENDER, parseSmtpUrl } from './smtp-url.ts'
import { upstreamSettings } from './upstream.ts'

/** Every setting, with its default; the table of SETTINGS "Settings" is compared with this schema by a test. */
export const settings = z.object({
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be development, production or test')
    .default('development')
    .describe(
      '`production` demands `SECRET_KEY` and an https `PUBLIC_URL`, calls partners on the usual ports only, logs JSON, refuses the demo',
    ),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; `0.0.0.0` for every interface'),
  PORT: whole(0, 65_535).default(3000).describe('port to listen on; 0 takes a free one'),
  PUBLIC_URL: originUrl
    .optional()
    .describe('address at which browsers reach the service (default: `http://localhost:PORT`; required in production)'),
  API_URL: originUrl.optional().describe("address at which micro-apps' servers reach A2–A6, if not `PUBLIC_URL`"),
  PARTNER_URL: originUrl
    .optional()
    .describe("address at which partners' programs reach the notices and `/sandbox/api`, if not `PUBLIC_URL`"),
  PUBLIC_URL_HTTP: onOff
    .default(false)
    .describe('`on` lets production run under `http://`: passwords, sessions and codes then travel unencrypted'),
  SECURITY_CONTACT: contactUris
    .default([])
    .describe('where to report a vulnerability, for `/.well-known/security.txt`: `mailto:` or `https:` addresses'),
  TRUST_PROXY: list
    .refine(
      (items) => items.every(isNetwork),
      'must be IP addresses or networks such as 10.0.0.0/8, separated by commas',
    )
    .default([])
    .describe('addresses or networks of proxies whose `X-Forwarded-For` is trusted'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      '`postgres://user:password@host:port/database`, special characters percent-encoded; without it the service runs its own PostgreSQL in `DATA_DIR`',
    ),
  DATABASE_WAIT_S: whole(0, 3_600)
    .default(60)
    .describe('seconds that a start waits for a database that does not answer; 0 tries once'),
  DATABASE_POOL_SIZE: whole(1, 500).default(10).describe('most connections of one process to PostgreSQL'),
  SHARDS: whole(1, 64)
    .refine((count) => Number.isInteger(Math.log2(count)), 'must be a power of two: 1, 2, 4, 8, …')
    .default(1)
    .describe('schemas that people are spread over (OPERATIONS "Database"), a power of two'),
  DATABASE_PLANNING: z
    .enum(['forced', 'server'], 'must be forced or server')
    .default('forced')
    .describe(
      '`forced` gives each statement one generic plan; `server` is for poolers that refuse startup options (PgBouncer, RDS Proxy)',
    ),
  BATCH_ITEMS: whole(1, 1_000).default(200).describe('most requests that share one database statement'),
  BATCHES_AT_ONCE: whole(1, 100).default(2).describe('shared statements of one kind that run at once'),
  ...loadSettings,
  DATA_DIR: z.string().min(1).default('.data').describe('folder of the embedded PostgreSQL and its keys'),
  MIGRATE: onOff.default(true).describe('`off` leaves the schema to `npm run migrate`'),
  SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters; generate one with: openssl rand -base64 48')
    .optional()
    .describe(
      'key from which all others are derived; required with `DATABASE_URL` and in production, otherwise in `DATA_DIR`',
    ),
  SECRET_KEYS_OLD: oldKeys
    .default([])
    .describe('keys that `SECRET_KEY` has replaced (or a JSON list), five at most; only during a rotation'),
  ...operatorSettings,
  ENVELOPE_HTTP_STATUS: z
    .enum(['200', 'native'], 'must be 200 or native')
    .default('200')
    .describe("`native` answers a caller's mistake with the HTTP status of the error table"),
  ACCESS_TOKEN_LIFETIME_S: whole(60, 31_536_000).default(604_800).describe('life of an access token, seconds'),
  ACCESS_TOKENS_PER_GRANT: whole(1, 10_000)
    .default(100)
    .describe('live access tokens of one grant; older ones are ended every 128 refreshes or so'),
  REFRESHES_PER_MINUTE: whole(1, 10_000_000)
    .default(60_000)
    .describe(
      'refreshes of one app per minute before 20003; without a secret, from one network (IPv4 address, IPv6 /64)',
    ),
  CODE_DUPLICATE_WINDOW_S: whole(0, 300)
    .default(60)
    .describe('seconds within which a used code sent again is only refused; later its grant is revoked too'),
  REFRESH_DUPLICATE_WINDOW_S: whole(0, 300)
    .default(60)
    .describe('seconds within which a rotated refresh token sent again gets the same answer'),
  SIGNING_KEY_LEAD_S: whole(0, 604_800)
    .default(3_600)
    .describe('seconds for which a new signing key is published before it signs id_tokens'),
  PUSHED_REQUESTS_PER_MINUTE: whole(1, 1_000_000)
    .default(600)
    .describe('pushed requests of one app, or network for public apps, per minute before 429'),
  PUSHED_BYTES_PER_MINUTE: whole(16_384, 1_000_000_000)
    .default(8_388_608)
    .describe('bytes of pushed requests of one app per minute before 429; of one network for public apps a sixteenth'),
  PHONE_COUNTRY_CODE: whole(1, 999)
    .default(86)
    .describe('country code that OpenID Connect puts before phone numbers without one'),
  CLIENT_FAILURES: whole(1, 100_000)
    .default(20)
    .describe('failed authentications of one app from one address in 5 minutes before 20003'),
  AUTHORIZE_PER_MINUTE: whole(1, 1_000_000)
    .default(300)
    .describe('authorization page requests of one address per minute before 20003'),
  PAGES_PER_MINUTE: whole(1, 1_000_000)
    .default(1_200)
    .describe('pages (home, sign-in, sandbox, unknown paths) of one address per minute before 20003'),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    )
    .default('info')
    .describe('lowest level that is logged'),
  ...logSettings,
  ...partnerSettings,
  ...peopleSettings,
  ...upstreamSettings,
  HTTP_PROCESSES: processes.default(1).describe('processes that answer requests, all on `PORT`; `auto`: one a core'),
  SANDBOX_WAIT_S: whole(5, 3_600).default(300).describe('seconds that a step of the sandbox waits for a notice'),
  SMTP_URL: z
    .string()
    .refine(
      (text) => parseSmtpUrl(text) !== undefined,
      'must be smtp(s)://user:password@host:port, with special characters percent-encoded',
    )
    .optional()
    .describe('server that sends mails, `smtp(s)://user:password@host:port`'),
  MAIL_FROM: z
    .string()
    .regex(MAIL_SENDER, 'must be a@b.example, or Name <a@b.example>')
    .optional()
    .describe('sender of mails (default: `Gatehouse <no-reply@HOST>` with the host of `PUBLIC_URL`)'),
  MAIL_FOLDER: z
    .string()
    .min(1)
    .optional()
    .describe('folder for mails where no `SMTP_URL` is set (default: `mail` in `DATA_DIR`)'),
  JOBS: onOff.default(true).describe('`off` leaves durable jobs to `npm run worker`'),
  SHUTDOWN_DELAY_S: whole(0, 120)
    .optional()
    .describe(
      'seconds at shutdown in which `/readyz` returns 503 and requests are still served (default: 3 in production, otherwise 0)',
    ),
  SHUTDOWN_GRACE_S: whole(0, 600).default(10).describe('seconds that requests in progress get to finish at shutdown'),
  DEMO: onOff
    .optional()
    .describe(
      'the demo, whose passwords are public (default: `on` with the embedded database and a `HOST` and `PUBLIC_URL` of this machine)',
    ),
  DEMO_PORT: whole(0, 65_535).optional().describe('port of the demo micro-app (default: PORT + 1)'),
  DEMO_PARTNER_PORT: whole(0, 65_535).optional().describe('port of the demo partner (default: PORT + 2)'),
})
