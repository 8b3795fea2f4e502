import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { answerLossless } from '../lib/envelope.ts'
import { readBodiesExactly } from '../lib/exact-body.ts'
import { parseInput } from '../lib/input.ts'
import { noteForLog } from '../lib/observe.ts'
import { echo } from '../lib/rescode.ts'
import {
  activatePartner,
  createPartner,
  listPartners,
  setStage,
  showPartner,
  suspendPartner,
  updatePartner,
} from './partner.ts'
import { setContact } from './partner-contact.ts'
import { retireSecret, rotatePartnerSecret, switchSigning, type TestCall } from './partner-secret.ts'
import { CONTACT_ROLES, contact, newPartner, partnerChanges, readPartnerId, stageChange } from './partner-wire.ts'
import { rotation } from './wire.ts'

interface OnePartner {
  Params: { partner_id: string }
}

const idOf = (request: FastifyRequest<OnePartner>): bigint => readPartnerId(request.params.partner_id)

/** The operator's routes for partners, below /admin/v1. In a plugin of its own, for it changes how bodies are read. */
export function partnerRoutes(app: FastifyInstance, deps: Deps, testCall: TestCall): void {
  readBodiesExactly(app)
  app.addHook<OnePartner>('preHandler', async (request) => {
    if (request.params.partner_id) noteForLog(request, { partnerId: echo(request.params.partner_id) })
  })

  app.get('/partners', async (request, reply) => answerLossless(request, reply, { partners: await listPartners(deps) }))

  app.post('/partners', async (request, reply) =>
    answerLossless(request, reply, await createPartner(deps, parseInput(newPartner, request.body))),
  )

  app.get<OnePartner>('/partners/:partner_id', async (request, reply) =>
    answerLossless(request, reply, await showPartner(deps, idOf(request))),
  )

  app.patch<OnePartner>('/partners/:partner_id', async (request, reply) => {
    const changes = parseInput(partnerChanges, request.body)
    return answerLossless(request, reply, await updatePartner(deps, idOf(request), changes))
  })

  app.post<OnePartner>('/partners/:partner_id/suspend', async (request, reply) =>
    answerLossless(request, reply, await suspendPartner(deps, idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/activate', async (request, reply) =>
    answerLossless(request, reply, await activatePartner(deps, idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/stage', async (request, reply) => {
    const change = parseInput(stageChange, request.body)
    return answerLossless(request, reply, await setStage(deps, idOf(request), change))
  })

  for (const role of CONTACT_ROLES) {
    app.put<OnePartner>(`/partners/:partner_id/contacts/${role}`, async (request, reply) => {
      const who = parseInput(contact, request.body)
      return answerLossless(request, reply, await setContact(deps, idOf(request), role, who))
    })
  }

  app.post<OnePartner>('/partners/:partner_id/rotate-secret', async (request, reply) => {
    const input = parseInput(rotation, request.body ?? {})
    return answerLossless(request, reply, await rotatePartnerSecret(deps, idOf(request), input))
  })

  app.post<OnePartner>('/partners/:partner_id/switch-signing', async (request, reply) =>
    answerLossless(request, reply, await switchSigning(deps, idOf(request), testCall)),
  )

  app.post<OnePartner>('/partners/:partner_id/retire-secret', async (request, reply) =>
    answerLossless(request, reply, await retireSecret(deps, idOf(request))),
  )
}
