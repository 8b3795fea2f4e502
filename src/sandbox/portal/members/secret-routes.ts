import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { doneText } from '../../../platform/lib/web/done-query.ts'
import { seeOther } from '../../../platform/lib/web/envelope.ts'
import { noteForLog } from '../../../platform/lib/web/observe.ts'
import { textsFor } from '../../../platform/lib/web/page.ts'
import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import { MemberRefusal } from '../../../ticketing/members/index.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { HOME, onBehalfOf, partnerOf, sendSandboxPage } from '../guard.ts'
import { memberRefusalText } from '../texts.ts'
import { rotateForm } from '../wire.ts'
import { endOldSecret, rotateOwnSecret, SecretRefusal, signWithNewest } from './secret.ts'

type PartnerSecretDates = OutputOf<typeof showPartner>['secrets'][number]

const SECRET = `${HOME}/secret`

const DONE = { switched: 'sandbox.secret.done_switched', retired: 'sandbox.secret.done_retired' } as const
const done = doneText(DONE)

interface Shown {
  readonly alert?: string
  /** The new secret, shown only once. */
  readonly made?: string
}

/** Owners rotate the clientSecret here, in the steps of `src/ticketing/partners/secret.ts`. */
export const secretRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const show = async (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const { client_id: clientId, secrets } = await showPartner(deps, partnerOf(request).partnerId)
    const page = { clientId, newest: secrets[0]?.secret_id ?? '', secrets, ...stageOf(secrets) }
    const data = { page, alert: '', made: '', done: done(request), ...shown }
    return sendSandboxPage(request, reply, 'sandbox/secret', data, {
      section: 'members',
      ...(shown.made ? {} : { query: '' }), // a link to the other language would lose it
      scripts: ['sandbox-copy.js'],
    })
  }

  /** Shows refusals on the page. */
  const refusing = async (request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) => {
    const t = textsFor(request)
    try {
      return await work()
    } catch (error) {
      if (error instanceof SecretRefusal) {
        noteForLog(request, { detail: error.detail })
        return show(request, reply.code(409), { alert: t(`sandbox.secret.refusal.${error.reason}`) })
      }
      if (error instanceof MemberRefusal) {
        return show(request, reply.code(409), { alert: memberRefusalText(error.reason, t) })
      }
      if (!(error instanceof RescodeError) || error.failure.status !== 429) throw error
      reply.code(429).headers(error.failure.headers ?? {})
      return show(request, reply, { alert: t('sandbox.secret.too_often') })
    }
  }

  type Step = (deps: RunDeps, partnerId: bigint) => Promise<unknown>
  const step = (work: Step, what: keyof typeof DONE) => (request: FastifyRequest, reply: FastifyReply) =>
    refusing(request, reply, async () => {
      await work(onBehalfOf(deps, request), partnerOf(request).partnerId)
      return seeOther(reply, `${SECRET}?done=${what}`)
    })

  app.get('/secret', (request, reply) => show(request, reply))

  app.post('/secret/rotate', (request, reply) =>
    refusing(request, reply, async () => {
      const { replaces } = rotateForm.parse(request.body)
      const made = await rotateOwnSecret(onBehalfOf(deps, request), partnerOf(request).partnerId, replaces)
      return show(request, reply, { made })
    }),
  )

  app.post('/secret/switch', step(signWithNewest, 'switched'))
  app.post('/secret/retire', step(endOldSecret, 'retired'))
}

/** `waits`: the newest secret does not sign our calls yet. `hasOld`: an old one is still valid. */
const stageOf = ([newest, other]: readonly PartnerSecretDates[]) => ({
  waits: newest !== undefined && !newest.signs,
  hasOld: newest?.signs === true && other !== undefined,
})
