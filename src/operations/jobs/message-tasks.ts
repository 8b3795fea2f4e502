import { z } from 'zod'
import { ACCOUNT_MESSAGES } from '../../authorization/account/index.ts'
import { APP_REQUESTS, findTeamMail, setTeamMailState } from '../../authorization/teams/index.ts'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { type DeliveryResult, deliver, NotSent, postWebhook } from '../../platform/outbound/index.ts'
import { bilingualMail, sendMail } from '../../sandbox/portal/index.ts'
import { type ServiceDeps, task } from './task.ts'

type PersonMessage = NonNullable<OutputOf<typeof ACCOUNT_MESSAGES.told>>

async function mailPerson(deps: Deps, message: PersonMessage): Promise<DeliveryResult> {
  deps.assertLeaseHeld?.()
  const { id, address } = message
  try {
    await sendMail(deps, id, bilingualMail(deps.config, { ...message, to: { name: '', address } }))
    return {}
  } catch (error) {
    if (!(error instanceof NotSent)) throw error
    return { [error.outcome]: error.detail }
  }
}

interface HookMessage {
  readonly id: string
  readonly type: 'user.password_forgotten' | 'user.contact_code'
  readonly at: Date
  readonly data: object
}

/** Passes a message for a person to the platform, which delivers it: a signed webhook, like those to apps. */
async function callPeopleHook(deps: ServiceDeps, { id, type, at, data }: HookMessage): Promise<DeliveryResult> {
  const { PASSWORD_RESET_HOOK: hook, PASSWORD_RESET_HOOK_SECRET: secret } = deps.config
  if (hook === undefined || secret === undefined) return { failure: 'PASSWORD_RESET_HOOK is not set' }
  const body = JSON.stringify({ type, timestamp: at, data })
  deps.assertLeaseHeld?.()
  try {
    await postWebhook(deps, { url: hook, id, body, secrets: [secret] })
    return {}
  } catch (error) {
    if (!(error instanceof NotSent)) throw error
    return { failure: `PASSWORD_RESET_HOOK: ${error.message}` }
  }
}

const REQUEST_TEXTS = { live: 'mail.app_request_live', change: 'mail.app_request_change' }

/** Messages to people, developers and operators. Each task first checks whether its message is still due. */
export const MESSAGE_TASKS = {
  'send-person-mail': task(ACCOUNT_MESSAGES.told.input, async (deps, about) => {
    const message = await ACCOUNT_MESSAGES.told(deps, about)
    return message ? mailPerson(deps, message) : {}
  }),
  // The code that confirms a person's new address or number, unless a newer one was requested.
  'send-contact-code': task(ACCOUNT_MESSAGES.contactCode.input, async (deps, request) => {
    const change = await ACCOUNT_MESSAGES.contactCode(deps, request)
    if (!change) return {}
    const { id, kind, way, value, code, at, expiresAt, cid, userId } = change
    if (way === 'hook') {
      const to = kind === 'phone' ? { phone_number: value } : { mail: value }
      const data = { cid, user_id: userId, ...to, code, expires_at: expiresAt }
      return callPeopleHook(deps, { id, type: 'user.contact_code', at, data })
    }
    return mailPerson(deps, {
      id,
      address: value,
      date: at,
      at: expiresAt,
      subject: (t) => t('mail.contact_code_subject'),
      text: (t, time) => t('mail.contact_code_text', { time, code }),
    })
  }),
  // The link for a new password, by mail or through the platform's own messages.
  'forgotten-password': task(ACCOUNT_MESSAGES.forgotten.input, async (deps, forgotten) => {
    const link = await ACCOUNT_MESSAGES.forgotten(deps, forgotten)
    if (!link) return {}
    const { id, at, address, cid, userId, url, expiresAt } = link
    if (deps.config.PASSWORD_RESET === 'hook') {
      const data = { cid, user_id: userId, url, expires_at: expiresAt }
      return callPeopleHook(deps, { id, type: 'user.password_forgotten', at, data })
    }
    if (deps.config.PASSWORD_RESET !== 'mail' || address === undefined) return {}
    return mailPerson(deps, {
      id,
      address,
      date: at,
      at: expiresAt,
      subject: (t) => t('mail.forgotten_subject'),
      text: (t, time) => t('mail.forgotten_text', { time, url }),
    })
  }),
  // Tells operators about a team's request, unless it is already decided.
  'send-request-mail': task(z.object({ requestId: z.string() }), async (deps, { requestId }) => {
    const { OPERATORS_MAIL: address, ADMIN_PORT, PUBLIC_URL } = deps.config
    const request = address === undefined ? undefined : await APP_REQUESTS.open(deps, requestId)
    if (!address || !request) return {}
    const { name, kind, at } = request
    // With ADMIN_PORT the address of the console is not known here.
    const url = `${ADMIN_PORT === undefined ? PUBLIC_URL : ''}/console/app-requests/${requestId}`
    const { refused, ...result } = await mailPerson(deps, {
      id: requestId,
      address,
      date: deps.clock.now(),
      at,
      subject: (t) => t('mail.app_request_subject', { name }),
      text: (t, time) => t(REQUEST_TEXTS[kind], { name, time, url }),
    })
    // The address is a setting, which operators can correct.
    return refused ? { givenUp: refused } : result
  }),
  'send-team-mail': task(z.object({ linkId: z.string() }), async (deps, { linkId }) => {
    const invitation = await findTeamMail(deps, linkId)
    if (!invitation) return {}
    const { mail, team, expiresAt, token } = invitation
    const url = `${deps.config.PUBLIC_URL}/developer/join?token=${token}`
    const message = bilingualMail(deps.config, {
      id: linkId,
      to: { name: '', address: mail },
      date: deps.clock.now(),
      at: expiresAt,
      subject: (t) => t('mail.team_invitation_subject', { team }),
      text: (t, time) => t('mail.team_invitation_text', { team, url, time }),
    })
    return deliver(deps, {
      send: () => sendMail(deps, linkId, message),
      markSent: () => setTeamMailState(deps.db, linkId, 'sent'),
      markFailed: (problem, final) => setTeamMailState(deps.db, linkId, final ? 'failed' : 'waiting', problem),
      givenUpAt: expiresAt,
    })
  }),
} as const
