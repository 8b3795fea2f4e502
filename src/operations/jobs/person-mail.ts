import { ACCOUNT_MESSAGES } from '../../authorization/account/index.ts'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { beijingTime, utcTime } from '../../platform/lib/time-zone.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { NotSent } from '../../platform/outbound/index.ts'
import { bilingual, messageFrom, sendMail } from '../../sandbox/portal/index.ts'
import { GiveUp, type Task } from './task.ts'

type PersonMessage = NonNullable<OutputOf<typeof ACCOUNT_MESSAGES.told>>

/** In both languages; the same for every attempt. */
export function messageTo(
  { config }: Pick<Deps, 'config'>,
  { id, address, date, told, subject, text }: PersonMessage,
): ReturnType<typeof messageFrom> {
  const [zh, en] = [translator('zh-CN'), translator('en')]
  const utc = utcTime(told.toISOString()).slice(0, 16)
  return messageFrom(config, {
    id,
    to: { name: '', address },
    subject: `${subject(zh)} / ${subject(en)}`,
    text: bilingual(`${text(zh, beijingTime(told).slice(0, 16))}\n`, `${text(en, utc)}\n`),
    date,
  })
}

/** A mail to a person about their account. */
export async function mailPerson(deps: Deps, told: PersonMessage): Promise<void> {
  deps.assertLeaseHeld?.()
  try {
    await sendMail(deps, told.id, messageTo(deps, told))
  } catch (error) {
    if (!(error instanceof NotSent)) throw error
    if (error.permanent) throw new GiveUp(error.detail)
    throw new Error(error.detail)
  }
}

export const sendPersonMailTask: Task = async (deps, payload) => {
  const message = await ACCOUNT_MESSAGES.told(deps, ACCOUNT_MESSAGES.told.input.parse(payload))
  if (message) await mailPerson(deps, message)
}
