import { ACCOUNT_MESSAGES } from '../../authorization/account/index.ts'
import { callPeopleHook } from './people-hook.ts'
import { mailPerson } from './person-mail.ts'
import type { Task } from './task.ts'

/** A code goes to the new address or number of a person, while nothing newer was asked for. */
export const sendContactCodeTask: Task = async (deps, payload) => {
  const change = await ACCOUNT_MESSAGES.contactCode(deps, ACCOUNT_MESSAGES.contactCode.input.parse(payload))
  if (!change) return
  const { id, kind, way, value, code, at, expiresAt, cid, userId } = change
  if (way === 'hook') {
    const to = kind === 'phone' ? { phone_number: value } : { mail: value }
    const data = { cid, user_id: userId, ...to, code, expires_at: expiresAt }
    return callPeopleHook(deps, { id, type: 'user.contact_code', at, data })
  }
  await mailPerson(deps, {
    id,
    address: value,
    date: at,
    told: expiresAt,
    subject: (t) => t('mail.contact_code_subject'),
    text: (t, time) => t('mail.contact_code_text', { time, code }),
  })
}
