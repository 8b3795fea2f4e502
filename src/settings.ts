import { z } from 'zod'
import { isNetwork } from './lib/network.ts'
import { MAIL_SENDER, parseSmtpUrl } from './lib/smtp-url.ts'

/** Every setting, with its default; the README's table is compared with this schema by a test. */

const whole = (from: number, to: number) =>
  z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(from, `must be at least ${from}`)
    .max(to, `must be at most ${to}`)
const onOff = z.enum(['on', 'off'], 'must be on or off').transform((value) => value === 'on')
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

export const settings = z.object({
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be development, production or test')
    .default('development')
    .describe('`production` demands `SECRET_KEY`, logs JSON and starts no demo'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; `0.0.0.0` for every interface'),
  PORT: whole(0, 65_535).default(3000).describe('port to listen on; 0 takes a free one'),
  PUBLIC_URL: httpUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe(
      'address under which browsers reach the service (default: `http://localhost:PORT`); `https://` makes cookies Secure',
    ),
  TRUST_PROXY: list
    .refine(
      (items) => items.every(isNetwork),
      'must be IP addresses or networks such as 10.0.0.0/8, separated by commas',
    )
    .default([])
    .describe('addresses or networks of reverse proxies whose `X-Forwarded-For` is believed, separated by commas'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' })
    .optional()
    .describe('PostgreSQL to use; without it the service runs one of its own in `DATA_DIR`'),
  DATABASE_POOL_SIZE: whole(1, 500).default(10).describe('connections of one process to PostgreSQL at most'),
  DATABASE_PLANNING: z
    .enum(['by-key', 'server'])
    .default('by-key')
    .describe(
      '`server` where a pooler refuses startup options (RDS Proxy); statements are then planned as the server is set',
    ),
  GATHER_ITEMS: whole(1, 1_000)
    .default(200)
    .describe('requests of one moment that share one database statement at most; 1 sends each by itself'),
  GATHER_BATCHES: whole(1, 100)
    .default(2)
    .describe(
      'shared statements of one kind at work at once; later requests gather meanwhile. More only helps where PostgreSQL has idle cores',
    ),
  DATA_DIR: z.string().min(1).default('.data').describe('folder of the embedded PostgreSQL and its keys'),
  MIGRATE: onOff.default(true).describe('`off` leaves the schema to `npm run migrate`'),
  SECRET_KEY: z
    .string()
    .min(32, 'must have at least 32 characters; make one with: openssl rand -base64 48')
    .optional()
    .describe(
      'key from which all others are derived; required with `DATABASE_URL` and in production, else kept in `DATA_DIR`',
    ),
  ADMIN_TOKEN: z
    .string()
    .min(24, 'must have at least 24 characters; make one with: openssl rand -base64 32')
    .optional()
    .describe('bearer token of `/admin/v1`; without it those routes refuse everybody'),
  ENVELOPE_HTTP_STATUS: z
    .enum(['200', 'native'], 'must be 200 or native')
    .default('200')
    .describe('`native` answers a mistake of the caller with the HTTP status of the error table'),
  ACCESS_TOKEN_LIFETIME_S: whole(60, 31_536_000).default(604_800).describe('life of an access token, seconds'),
  CODE_DUPLICATE_WINDOW_S: whole(0, 300)
    .default(60)
    .describe(
      'a used code sent again by its app within this many seconds is only refused; later the grant is revoked too',
    ),
  REFRESH_DUPLICATE_WINDOW_S: whole(0, 300)
    .default(60)
    .describe('a rotated refresh token sent again within this many seconds gets the same answer again'),
  SESSION_LIFETIME_S: whole(300, 31_536_000).default(43_200).describe('life of a browser session, seconds'),
  SIGN_IN_FAILURES_PER_PASSPORT: whole(1, 10_000)
    .default(5)
    .describe(
      'failed sign-ins of one passport, or of one clientId in the sandbox, in 15 minutes before it has to wait',
    ),
  SIGN_IN_FAILURES_PER_ADDRESS: whole(1, 100_000)
    .default(50)
    .describe('failed sign-ins from one address in 15 minutes before it has to wait'),
  CLIENT_FAILURES: whole(1, 100_000)
    .default(20)
    .describe('failed authentications of one app from one address in 5 minutes before 20003'),
  AUTHORIZE_PER_MINUTE: whole(1, 1_000_000)
    .default(300)
    .describe('authorization page requests of one address a minute, per process, before 20003'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a pino level')
    .default('info')
    .describe('least level that is logged'),
  MTP_PATH_PREFIXES: list
    .default(['', '/rhone'])
    .transform((prefixes) => [...new Set(['', ...prefixes])])
    .describe('prefixes under which `/mtp/api/…` answers too, separated by commas (default: none and `/rhone`)'),
  MTP_CLOCK_SKEW_S: whole(1, 86_400)
    .default(600)
    .describe('seconds that the Date of a signed call may be older or newer than now'),
  PARTNER_ADDRESS_ALLOW: list
    .optional()
    .describe(
      'private addresses that partner URLs may lead to all the same: hosts or networks, separated by commas (default: none, with the demo `127.0.0.1`)',
    ),
  WORKERS: whole(1, 64)
    .default(1)
    .describe('processes that answer requests, all on `PORT`; jobs, the embedded database and the demo run once'),
  SANDBOX_WAIT_S: whole(5, 3_600)
    .default(300)
    .describe("seconds that a step of the sandbox waits for the partner's notice"),
  SMTP_URL: z
    .string()
    .refine(
      (text) => parseSmtpUrl(text) !== undefined,
      'must be smtp(s)://user:password@host:port, with special characters percent-encoded',
    )
    .optional()
    .describe(
      'server that mails are sent by, `smtp(s)://user:password@host:port`; without it they are written to `MAIL_FOLDER`',
    ),
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
  WORKER: onOff.default(true).describe('`off` leaves durable jobs to `npm run worker`'),
  SHUTDOWN_GRACE_S: whole(0, 600).default(10).describe('seconds that requests in flight get at shutdown'),
  DEMO: onOff.optional().describe('the demo users, apps and micro-app (default: `on`, in production always `off`)'),
  DEMO_PORT: whole(0, 65_535).optional().describe('port of the demo micro-app (default: PORT + 1)'),
  DEMO_PARTNER_PORT: whole(0, 65_535).optional().describe('port of the demo partner (default: PORT + 2)'),
})
