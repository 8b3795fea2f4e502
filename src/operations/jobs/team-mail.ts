import { z } from 'zod'
import { findTeamMail, markTeamMail } from '../../authorization/teams/index.ts'
import { deliver } from '../../platform/outbound/index.ts'
import { sendMail } from '../../sandbox/portal/index.ts'
import { messageTo } from './person-mail.ts'
import { GiveUp, type Task } from './task.ts'

const ofLink = z.object({ linkId: z.string() })

/** Somebody is invited to a team of developers; nothing when the mail is sent, or its link can no longer be used. */
export const sendTeamMailTask: Task = async (deps, payload) => {
  const { linkId } = ofLink.parse(payload)
  const invitation = await findTeamMail(deps, linkId)
  if (!invitation) return
  const { mail, team, expiresAt, token } = invitation
  const url = `${deps.config.PUBLIC_URL}/developer/join?token=${token}`
  const message = messageTo(deps, {
    id: linkId,
    address: mail,
    date: deps.clock.now(),
    told: expiresAt,
    subject: (t) => t('mail.team_invitation_subject', { team }),
    text: (t, time) => t('mail.team_invitation_text', { team, url, time }),
  })
  const { failure, givenUp } = await deliver(deps, {
    send: () => sendMail(deps, linkId, message),
    markSent: () => markTeamMail(deps, linkId, 'sent'),
    markFailed: (problem, final) => markTeamMail(deps, linkId, final ? 'failed' : 'waiting', problem),
    givenUpAt: expiresAt,
  })
  if (givenUp) throw new GiveUp(givenUp)
  if (failure) throw new Error(failure)
}
