import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { rotation } from '../lib/crypto/generated-secret.ts'
import { parseInput } from '../lib/json/input.ts'
import { type DepsFor, maskedMail, seesPeople } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { readBodiesExactly } from '../lib/web/exact-body.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { echo } from '../lib/web/rescode.ts'
import { makeAesKey, removeAesKey, setAesKey } from './aes-key.ts'
import { rotateWebhookSecret, setContact } from './contact.ts'
import {
  activatePartner,
  createPartner,
  listPartners,
  setStage,
  showPartner,
  suspendPartner,
  updatePartner,
} from './partner.ts'
import { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
import { urlWarnings } from './url-warnings.ts'
import { CONTACT_ROLES, contact, type Partner, readPartnerId, type ShownPartner } from './wire.ts'

interface OnePartner {
  Params: { partner_id: string }
}

const idOf = (request: FastifyRequest<OnePartner>): bigint => readPartnerId(request.params.partner_id)

/** Contacts are people: a viewer sees their mails masked, as those of members. */
function shownTo<P extends Pick<Partner, 'contacts'>>(request: FastifyRequest, partner: P): P {
  if (seesPeople(request)) return partner
  const contacts = Object.entries(partner.contacts).map(([role, { mail, ...contact }]) => [
    role,
    { ...contact, mail: maskedMail(mail) },
  ])
  return { ...partner, contacts: Object.fromEntries(contacts) }
}

/** Answers with the partner; warnings about URLs without TLS go into the answer and the log. */
function warned(request: FastifyRequest, reply: FastifyReply, partner: ShownPartner): string {
  const warnings = urlWarnings(partner)
  if (warnings.length === 0) return answerLossless(request, reply, partner)
  const fields = warnings.map(({ field }) => field)
  request.log.warn({ partnerId: String(partner.partner_id), fields }, 'partner URLs without TLS')
  return answerLossless(request, reply, { ...partner, warnings })
}

/** The operator's routes for partners, below /admin/v1. In a plugin of its own, for it changes how bodies are read. */
export function partnerRoutes<Given extends Deps>(
  app: FastifyInstance,
  depsFor: DepsFor<Given>,
  testCallWith: TestCallWith<Given>,
): void {
  readBodiesExactly(app)
  const shownList = async (request: FastifyRequest) => {
    const { partners, next } = await listPartners(depsFor(request), parseInput(listPartners.input, request.query))
    return { partners: partners.map((partner) => shownTo(request, partner)), next }
  }
  app.addHook<OnePartner>('preHandler', async (request) => {
    if (request.params.partner_id) noteForLog(request, { partnerId: echo(request.params.partner_id) })
  })

  app.get('/partners', { config: { readsQuery: true } }, async (request, reply) =>
    answerLossless(request, reply, await shownList(request)),
  )

  app.post('/partners', async (request, reply) =>
    warned(request, reply, await createPartner(depsFor(request), parseInput(createPartner.input, request.body))),
  )

  app.get<OnePartner>('/partners/:partner_id', async (request, reply) =>
    answerLossless(request, reply, shownTo(request, await showPartner(depsFor(request), idOf(request)))),
  )

  app.patch<OnePartner>('/partners/:partner_id', async (request, reply) => {
    const changes = parseInput(updatePartner.input, request.body)
    return warned(request, reply, await updatePartner(depsFor(request), idOf(request), changes))
  })

  app.post<OnePartner>('/partners/:partner_id/suspend', async (request, reply) =>
    answerLossless(request, reply, await suspendPartner(depsFor(request), idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/activate', async (request, reply) =>
    answerLossless(request, reply, await activatePartner(depsFor(request), idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/stage', async (request, reply) => {
    const change = parseInput(setStage.input, request.body)
    return answerLossless(request, reply, await setStage(depsFor(request), idOf(request), change))
  })

  for (const role of CONTACT_ROLES) {
    app.put<OnePartner>(`/partners/:partner_id/contacts/${role}`, async (request, reply) => {
      const who = parseInput(contact, request.body)
      return warned(request, reply, await setContact(depsFor(request), idOf(request), { role, ...who }))
    })
    app.post<OnePartner>(`/partners/:partner_id/contacts/${role}/rotate-webhook-secret`, async (request, reply) =>
      answerLossless(request, reply, await rotateWebhookSecret(depsFor(request), idOf(request), role)),
    )
  }

  app.put<OnePartner>('/partners/:partner_id/aes-key', async (request, reply) => {
    const given = parseInput(setAesKey.input, request.body)
    return answerLossless(request, reply, await setAesKey(depsFor(request), idOf(request), given))
  })

  app.delete<OnePartner>('/partners/:partner_id/aes-key', async (request, reply) =>
    answerLossless(request, reply, await removeAesKey(depsFor(request), idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/make-aes-key', async (request, reply) =>
    answerLossless(request, reply, await makeAesKey(depsFor(request), idOf(request))),
  )

  app.post<OnePartner>('/partners/:partner_id/rotate-secret', async (request, reply) => {
    const input = parseInput(rotation, request.body ?? {})
    return answerLossless(request, reply, await rotatePartnerSecret(depsFor(request), idOf(request), input))
  })

  app.post<OnePartner>('/partners/:partner_id/switch-signing', async (request, reply) =>
    answerLossless(
      request,
      reply,
      await switchSigning(depsFor(request), idOf(request), testCallWith(depsFor(request))),
    ),
  )

  app.post<OnePartner>('/partners/:partner_id/retire-secret', async (request, reply) =>
    answerLossless(request, reply, await retireSecret(depsFor(request), idOf(request))),
  )
}
