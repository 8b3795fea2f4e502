import { ACCOUNT_MESSAGES } from '../account/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { NotSent, postWebhook } from '../outbound/index.ts'
import type { ServiceDeps } from './deps.ts'
import { mailPerson } from './person-mail.ts'
import type { Task } from './task.ts'

/** Somebody has forgotten a password: the link goes out by mail, or to the platform's own messages. */
export const forgottenPasswordTask: Task = async (deps, payload) => {
  const link = await ACCOUNT_MESSAGES.forgotten(deps, ACCOUNT_MESSAGES.forgotten.input.parse(payload))
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

type ForgottenLink = NonNullable<OutputOf<typeof ACCOUNT_MESSAGES.forgotten>>

/** A signed webhook, as those to contacts and apps. */
async function callHook(deps: ServiceDeps, { id, cid, userId, url, at, expiresAt }: ForgottenLink): Promise<void> {
  const { PASSWORD_RESET_HOOK: hook, PASSWORD_RESET_HOOK_SECRET: secret } = deps.config
  if (hook === undefined || secret === undefined) throw new Error('PASSWORD_RESET_HOOK is not set')
  const data = { cid, user_id: userId, url, expires_at: expiresAt }
  const body = JSON.stringify({ type: 'user.password_forgotten', timestamp: at, data })
  deps.assertLeaseHeld?.()
  try {
    await postWebhook(deps, { url: hook, id, body, secret })
  } catch (error) {
    if (!(error instanceof NotSent)) throw error
    throw new Error(`PASSWORD_RESET_HOOK: ${error.message}`)
  }
}
