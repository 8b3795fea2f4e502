import { forgottenLink } from '../account/index.ts'
import { PARTNER_LIMITS } from '../config/call-limits.ts'
import type { Deps } from '../deps.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { HttpCallError, post } from '../outbound/index.ts'
import { mailPerson } from './person-mail.ts'
import type { Task } from './task.ts'

/** Somebody has forgotten a password: the link goes out by mail, or to the platform's own messages. */
export const forgottenPasswordTask: Task = async (deps, payload) => {
  const link = await forgottenLink(deps, forgottenLink.input.parse(payload))
  if (!link) return
  if (deps.config.PASSWORD_RESET === 'hook') return callHook(deps, link)
  if (deps.config.PASSWORD_RESET !== 'mail' || link.address === undefined) return
  await mailPerson(deps, {
    id: link.id,
    address: link.address,
    date: link.at,
    told: link.expiresAt,
    subject: (t) => t('mail.forgotten_subject'),
    text: (t, time) => t('mail.forgotten_text', { time, url: link.url }),
  })
}

type ForgottenLink = NonNullable<OutputOf<typeof forgottenLink>>

/** Nobody reads the answer. */
const LIMITS = { ...PARTNER_LIMITS, bytes: 65_536 }

/** As Standard Webhooks has it. Errors name no URL: the link is a secret. */
async function callHook(deps: Deps, { id, cid, userId, url, at, expiresAt }: ForgottenLink): Promise<void> {
  const { PASSWORD_RESET_HOOK: hook, PASSWORD_RESET_HOOK_SECRET: secret } = deps.config
  if (hook === undefined || secret === undefined) throw new Error('PASSWORD_RESET_HOOK is not set')
  const data = { cid, user_id: userId, url, expires_at: expiresAt }
  const body = JSON.stringify({ type: 'user.password_forgotten', timestamp: at, data })
  const { Webhook } = await import('standardwebhooks') // with the first of them
  const now = deps.clock.now()
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(epochSeconds(now)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  }
  deps.assertLeaseHeld?.()
  const status = await post({ url: hook, headers, body }, deps.calls.guard, LIMITS).then(
    (answer) => answer.status,
    (error: unknown) => {
      throw error instanceof HttpCallError ? new Error(`PASSWORD_RESET_HOOK: ${error.failure}`) : error
    },
  )
  if (status < 200 || status > 299) throw new Error(`PASSWORD_RESET_HOOK: HTTP status ${status}`)
}
