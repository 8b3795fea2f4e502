import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { existingPartner } from '../../../ticketing/partner-calls/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchEntry } from '../errors.ts'
import { HOME, partnerOf, sendSandboxPage } from '../guard.ts'
import { interfacePage, playPage, type Shown } from './page.ts'
import { sendWritten } from './send.ts'
import { problemText } from './texts.ts'
import { playQuery, writtenForm } from './wire.ts'

export const PLAY = `${HOME}/play`
export const PLAY_PAGE = { section: 'play', scripts: ['sandbox-copy.js'] } as const

/** The page that shows a call and how its answer was examined. */
export const resultPage = (name: InterfaceName, callId: string, expect: string): string =>
  `${PLAY}/${name}?${new URLSearchParams({ call: callId, expect })}#result`

interface InterfaceRoute {
  Params: { name: string }
}

/** The playground, by hand: one form for each interface of the partner, with the answer to what was sent. */
export const playRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const nameOf = ({ params }: FastifyRequest<InterfaceRoute>): InterfaceName => {
    const entry = interfaceNamed(params.name)
    if (!entry) throw noSuchEntry()
    return entry.name as InterfaceName
  }

  const show = async (
    request: FastifyRequest<InterfaceRoute>,
    reply: FastifyReply,
    shown: Shown,
    problem = '',
  ): Promise<FastifyReply> => {
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const page = await interfacePage(deps, partner, nameOf(request), shown, localeOfRequest(request))
    return sendSandboxPage(request, reply, 'sandbox/play-interface', { page, problem }, PLAY_PAGE)
  }

  app.get('/play', async (request, reply) => {
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const page = await playPage(deps, partner, localeOfRequest(request))
    return sendSandboxPage(request, reply, 'sandbox/play', { page, alert: '' }, PLAY_PAGE)
  })

  app.get<InterfaceRoute>('/play/:name', async (request, reply) => {
    const { call, expect, example } = playQuery.parse(request.query)
    return show(request, reply, { call, expect, example: example !== undefined })
  })

  app.post<InterfaceRoute>('/play/:name', async (request, reply) => {
    const name = nameOf(request)
    const read = writtenForm.safeParse(request.body ?? {})
    const t = translator(localeOfRequest(request))
    if (!read.success) return show(request, reply.code(400), {}, t('sandbox.play.problem_form'))
    const partner = await existingPartner(deps, partnerOf(request).partnerId)
    const sent = await sendWritten(deps, partner, name, read.data)
    if ('callId' in sent) {
      return reply.headers(NO_STORE_HEADERS).redirect(resultPage(name, sent.callId, read.data.expect), 303)
    }
    const isAboutOrder = sent.kind === 'sold-order' || sent.kind === 'unknown-order'
    return show(request, reply.code(isAboutOrder ? 409 : 400), { typed: read.data }, problemText(sent, t))
  })
}
