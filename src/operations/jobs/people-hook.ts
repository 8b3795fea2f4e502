import { NotSent, postWebhook } from '../../platform/outbound/index.ts'
import type { ServiceDeps } from './deps.ts'

interface HookMessage {
  readonly id: string
  readonly type: 'user.password_forgotten' | 'user.contact_code'
  readonly at: Date
  readonly data: object
}

/** Hands the platform what it sends to a person: a signed webhook, as those to contacts and apps. */
export async function callPeopleHook(deps: ServiceDeps, { id, type, at, data }: HookMessage): Promise<void> {
  const { PASSWORD_RESET_HOOK: hook, PASSWORD_RESET_HOOK_SECRET: secret } = deps.config
  if (hook === undefined || secret === undefined) throw new Error('PASSWORD_RESET_HOOK is not set')
  const body = JSON.stringify({ type, timestamp: at, data })
  deps.assertLeaseHeld?.()
  try {
    await postWebhook(deps, { url: hook, id, body, secrets: [secret] })
  } catch (error) {
    if (!(error instanceof NotSent)) throw error
    throw new Error(`PASSWORD_RESET_HOOK: ${error.message}`)
  }
}
