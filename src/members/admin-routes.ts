import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { positiveId } from '../lib/json/fields.ts'
import { parseInput } from '../lib/json/input.ts'
import { forOperatorsOnly, maskedMail, operatorDepsFor, seesPeople } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { listMembers, removeMemberByMail } from './change.ts'
import { inviteMember } from './invite.ts'

interface OnePartner {
  Params: { partner_id: string }
}

const onePartner = z.object({ partner_id: positiveId })
const idOf = ({ params }: FastifyRequest<OnePartner>): bigint => parseInput(onePartner, params).partner_id

/** The operator's routes for members of partners, below /admin/v1. Each answers with everybody who is left. */
export const memberRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  forOperatorsOnly(app)
  const depsFor = operatorDepsFor(deps)
  const shown = async (request: FastifyRequest<OnePartner>) => {
    const members = await listMembers(deps, idOf(request))
    if (seesPeople(request)) return { members }
    return { members: members.map((member) => ({ ...member, mail: maskedMail(member.mail) })) }
  }

  app.get<OnePartner>('/partners/:partner_id/members', async (request, reply) =>
    answerSuccess(request, reply, await shown(request)),
  )

  app.post<OnePartner>('/partners/:partner_id/members', async (request, reply) => {
    await inviteMember(depsFor(request), idOf(request), parseInput(inviteMember.input, request.body))
    return answerSuccess(request, reply, await shown(request))
  })

  app.post<OnePartner>('/partners/:partner_id/members/remove', async (request, reply) => {
    await removeMemberByMail(depsFor(request), idOf(request), parseInput(removeMemberByMail.input, request.body))
    return answerSuccess(request, reply, await shown(request))
  })
}
