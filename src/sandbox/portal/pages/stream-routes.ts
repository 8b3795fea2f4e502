import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { textsFor } from '../../../platform/lib/web/page.ts'
import { noSuchRun, type RunDeps, showRun } from '../../certification/index.ts'
import { paramsOf, partnerOf } from '../guard.ts'
import { findPartnerSession, sessionCookie } from '../session.ts'
import { type Followed, type Following, followLines, Streams } from './streams.ts'
import { runParams, streamHeaders, streamQuery } from './wire.ts'

/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1_000

/**
 * The lines of a run as server-sent events: `id` is the number of the line in the run, `data` is JSON with `html` (the
 * line as on the page) and `state`. A browser that reconnects with Last-Event-ID (or `?after=`) misses none.
 */
export const streamRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  const streams = new Streams()
  const cookie = sessionCookie(deps.config)
  app.addHook('preClose', async () => streams.closeAll())

  app.get('/run/:run_id/events', { config: { answersHead: false } }, async (request, reply) => {
    const { run_id } = paramsOf(request, runParams, noSuchRun)
    const { partnerId, sessionHash } = partnerOf(request)
    const { run } = await showRun(deps, partnerId, run_id)
    const { signal, close } = streams.open(sessionHash.toString('base64'), partnerId)
    reply.raw.once('close', close)
    app.stopCounting(reply)
    const following: Following = {
      deps,
      partnerId,
      runId: run.run_id,
      after: streamHeaders.parse(request.headers)['last-event-id'] ?? streamQuery.parse(request.query).after,
      t: textsFor(request),
      signal,
      allowed: async () => (await findPartnerSession(deps, cookie.read(request))) !== null,
    }
    return reply
      .headers({ ...NO_STORE_HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
      .send(Readable.from(written(request, following)))
  })
}

async function* written(request: FastifyRequest, following: Following): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for await (const followed of followLines(following)) yield await frame(request, following, followed)
}

async function frame({ server }: FastifyRequest, { t }: Following, followed: Followed): Promise<string> {
  if (followed === null) return ': still here\n\n'
  const { event, line } = followed
  const html = await server.view('sandbox/log-line', { line, t })
  const state = { kind: event.kind, step: event.step_id, attempt: event.attempt_id }
  return `id: ${event.seq}\ndata: ${JSON.stringify({ html, state })}\n\n`
}
