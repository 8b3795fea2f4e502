import { z } from 'zod'
import { APP_REQUESTS } from '../../authorization/teams/index.ts'
import { mailPerson } from './person-mail.ts'
import type { Task } from './task.ts'

const TEXTS = { live: 'mail.app_request_live', change: 'mail.app_request_change' }
const ofRequest = z.object({ requestId: z.string() })

/** Operators are told that a team has asked for something; nothing where it is decided by now. */
export const sendRequestMailTask: Task = async (deps, payload) => {
  const { requestId } = ofRequest.parse(payload)
  const { OPERATORS_MAIL: address, ADMIN_PORT, PUBLIC_URL } = deps.config
  const request = address === undefined ? undefined : await APP_REQUESTS.open(deps, requestId)
  if (!address || !request) return
  const { name, kind, at } = request
  // With ADMIN_PORT the console is at an address that is not known here.
  const url = `${ADMIN_PORT === undefined ? PUBLIC_URL : ''}/console/app-requests/${requestId}`
  await mailPerson(deps, {
    id: requestId,
    address,
    date: deps.clock.now(),
    told: at,
    subject: (t) => t('mail.app_request_subject', { name }),
    text: (t, time) => t(TEXTS[kind], { name, time, url }),
  })
}
