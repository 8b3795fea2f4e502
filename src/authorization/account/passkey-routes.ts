import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { addPasskey, ownPasskeys, registrationOptions, removeOwnPasskey, renameOwnPasskey } from './passkeys.ts'
import type { SignedIn } from './session.ts'
import { freshSession, isFresh } from './step-up-guard.ts'
import { newPasskeyForm, onePasskey, passkeyName, type SecurityChange } from './wire.ts'

const PASSKEYS = '/account/security/passkeys'

/** What the page about security shows of passkeys. The options for another one are for whoever may add it now. */
export async function shownPasskeys(deps: Deps, session: SignedIn) {
  const all = await ownPasskeys(deps, session)
  return {
    list: all.map(({ passkeyId, name, createdAt, lastUsedAt }) => ({
      id: passkeyId,
      name,
      since: createdAt.toISOString(),
      lastUsed: lastUsedAt?.toISOString() ?? null,
    })),
    options: (await isFresh(deps, session)) ? await registrationOptions(deps, session) : '',
  }
}

interface Options {
  readonly deps: Deps
  readonly overview: string
  /** The same with the page that the person has come from, as a query or a form names it. */
  readonly withReturnTo: (given: unknown) => string
  readonly show: (
    request: FastifyRequest,
    reply: FastifyReply,
    session: SignedIn,
    alert: string,
  ) => Promise<FastifyReply>
}

/** Forms of passkeys on the page about security, within whose plugin this is. */
export const passkeyForms: FastifyPluginAsync<Options> = async (app, { deps, overview, withReturnTo, show }) => {
  const back = (reply: FastifyReply, done?: SecurityChange, page = overview) =>
    seeOther(reply, done ? `${page}${page.includes('?') ? '&' : '?'}done=${done}` : page)
  const acting = (request: FastifyRequest): Deps => ({ ...deps, actor: actorOf(request, 'user') })
  for (const path of ['', '/rename', '/remove']) app.get(PASSKEYS + path, (_request, reply) => back(reply))

  app.post(PASSKEYS, async (request, reply) => {
    const page = withReturnTo(request.body)
    const session = await freshSession(deps, request, reply, page)
    if (!session) return reply
    const form = newPasskeyForm.safeParse(request.body)
    if (form.success) {
      const { name, credential: response } = form.data
      if (await addPasskey(acting(request), session, { response, name })) return back(reply, 'passkey_added', page)
    }
    return show(request, reply.code(400), session, textsFor(request)('passkey.not_added'))
  })

  app.post(`${PASSKEYS}/rename`, async (request, reply) => {
    const session = await freshSession(deps, request, reply, overview)
    if (!session) return reply
    const form = onePasskey.extend(passkeyName.shape).safeParse(request.body)
    if (!form.success) return back(reply)
    await renameOwnPasskey(deps, session, form.data.passkey_id, form.data.name)
    return back(reply, 'passkey_renamed')
  })

  app.post(`${PASSKEYS}/remove`, async (request, reply) => {
    const session = await freshSession(deps, request, reply, overview)
    if (!session) return reply
    const form = onePasskey.safeParse(request.body)
    if (!form.success) return back(reply)
    await removeOwnPasskey(acting(request), session, form.data.passkey_id)
    return back(reply, 'passkey_removed')
  })
}
