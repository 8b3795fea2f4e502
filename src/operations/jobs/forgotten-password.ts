import { ACCOUNT_MESSAGES } from '../../authorization/account/index.ts'
import { callPeopleHook } from './people-hook.ts'
import { mailPerson } from './person-mail.ts'
import type { Task } from './task.ts'

/** Somebody has forgotten a password: the link goes out by mail, or to the platform's own messages. */
export const forgottenPasswordTask: Task = async (deps, payload) => {
  const link = await ACCOUNT_MESSAGES.forgotten(deps, ACCOUNT_MESSAGES.forgotten.input.parse(payload))
  if (!link) return
  if (deps.config.PASSWORD_RESET === 'hook') {
    const { id, at, cid, userId, url, expiresAt } = link
    const data = { cid, user_id: userId, url, expires_at: expiresAt }
    return callPeopleHook(deps, { id, type: 'user.password_forgotten', at, data })
  }
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
