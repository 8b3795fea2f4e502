import { isIP } from 'node:net'
import { z } from 'zod'
import { isLoopbackHost } from '../lib/web/web-url.ts'
import { type AllowSettings, isException } from './allowed-address.ts'
import { list, onOff, whole } from './setting.ts'

/** Fields of the profile that people may change. */
export const PROFILE_FIELDS = ['name', 'avatar', 'gender', 'phone', 'mail'] as const
export type ProfileField = (typeof PROFILE_FIELDS)[number]

export const peopleSettings = {
  SESSION_LIFETIME_S: whole(300, 31_536_000).default(43_200).describe('life of a browser session, seconds'),
  SIGN_IN_FAILURES_PER_PASSPORT: whole(1, 10_000)
    .default(5)
    .describe(
      'failed sign-ins of one passport, clientId or member from one network (IPv4 /24, IPv6 /64) in 15 minutes before it has to wait; a browser that has signed in before has as many of its own',
    ),
  SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE: whole(1, 1_000_000).default(50).describe('the same from all networks'),
  SIGN_IN_FAILURES_PER_ADDRESS: whole(1, 100_000)
    .default(50)
    .describe(
      'failed sign-ins from one address (IPv6 /64; sixteen times as many from its /48) in 15 minutes before it has to wait',
    ),
  SECOND_FACTOR: z
    .enum(['off', 'offered', 'required'], 'must be off, offered or required')
    .default('offered')
    .describe(
      'authenticator apps: `offered` lets people add one; `required` makes them, at the next sign-in; `off` never asks',
    ),
  PASSKEYS: onOff
    .default(true)
    .describe('`off` accepts none. They need an https `PUBLIC_URL` with a name, or one of this machine'),
  PASSWORD_RESET: z
    .enum(['off', 'mail', 'hook'], 'must be off, mail or hook')
    .default('off')
    .describe(
      'forgotten passwords: `mail` sends a link to those whose passport is a mail address; `hook` gives it to `PASSWORD_RESET_HOOK`; `off`: an operator makes a link',
    ),
  PROFILE_OWNED: list
    .refine(
      (fields) => fields.every((field) => (PROFILE_FIELDS as readonly string[]).includes(field)),
      `must be of ${PROFILE_FIELDS.join(', ')}, separated by commas`,
    )
    .transform((fields) => fields as ProfileField[])
    .default([])
    .describe(
      'parts of a profile that people can only read here: `name`, `avatar`, `gender`, `phone`, `mail`. To change a mail address needs `SMTP_URL` or the hook, a phone number the hook',
    ),
  DEVELOPERS: z
    .enum(['open', 'invited', 'off'], 'must be open, invited or off')
    .default('open')
    .describe(
      'who may register micro-apps at `/developer`: `open` everybody with an account; `invited` those whom a team or an operator (`gatehouse team create`) has invited; `off` nobody',
    ),
  OPERATORS_MAIL: z
    .email('must be one mail address')
    .max(254)
    .optional()
    .describe('address that gets a mail for each request for approval (`/console/app-requests`)'),
  PASSWORD_RESET_HOOK: z
    .url({ protocol: /^https?$/, error: 'must be an https:// address' })
    .optional()
    .describe(
      'https address (one of `PARTNER_ADDRESS_ALLOW`: also http) that gets, as Standard Webhooks, the links of `PASSWORD_RESET=hook` (`user.password_forgotten`: cid, user_id, url, expires_at) and codes (`user.contact_code`: cid, user_id, phone_number or mail, code, expires_at)',
    ),
  PASSWORD_RESET_HOOK_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and at least 24 bytes in Base64')
    .optional()
    .describe('secret that signs these messages: echo whsec_$(openssl rand -base64 32)'),
}

/** Whether passkeys work here: browsers need a host name and a secure context. */
export function hasPasskeys({ PASSKEYS, PUBLIC_URL }: { readonly PASSKEYS: boolean; readonly PUBLIC_URL: string }) {
  const { protocol, hostname } = new URL(PUBLIC_URL)
  return PASSKEYS && !isIP(hostname.replace(/^\[|\]$/g, '')) && (protocol === 'https:' || isLoopbackHost(hostname))
}

interface HookSettings extends AllowSettings {
  readonly PASSWORD_RESET: 'off' | 'mail' | 'hook'
  readonly PASSWORD_RESET_HOOK?: string | undefined
  readonly PASSWORD_RESET_HOOK_SECRET?: string | undefined
}

/** Problems with the hook's settings. It receives password reset links, so it must be safe. */
export function hookProblems(config: HookSettings): string[] {
  const { PASSWORD_RESET, PASSWORD_RESET_HOOK: hook, PASSWORD_RESET_HOOK_SECRET: secret } = config
  const problems: string[] = []
  if (PASSWORD_RESET === 'hook' && !(hook && secret)) {
    problems.push('PASSWORD_RESET=hook needs PASSWORD_RESET_HOOK and PASSWORD_RESET_HOOK_SECRET')
  }
  if (hook && new URL(hook).protocol === 'http:' && !isException(config, new URL(hook))) {
    problems.push(
      'PASSWORD_RESET_HOOK must be an https:// address: what is sent there sets passwords. http:// is for hosts and addresses of PARTNER_ADDRESS_ALLOW alone',
    )
  }
  return problems
}
