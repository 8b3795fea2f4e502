import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { perLocale, translator } from '../../platform/lib/web/locale.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { openStandardRequests } from '../oidc/index.ts'
import type { PersonRequest } from '../people/index.ts'
import { appsOfPerson } from '../teams/index.ts'
import { developerPages, HOME } from './guard.ts'
import { checkTicket, idTokenView } from './helpers.ts'
import { ENDPOINTS, judge } from './judge.ts'
import { chosenApp, sideBySide } from './own-values.ts'
import { LONGEST_PASTED } from './pasted.ts'
import { describeOperations } from './reference.ts'

const HELPERS = `${HOME}/helpers`
/** A character may take nine bytes in a form. */
const FORM_LIMIT = 9 * LONGEST_PASTED
const MAX_TOKEN = 8_192

/** Unusable values count as empty. Pasted text is neither stored nor shown again. */
const pasted = (name: string, maxLength: number) =>
  z
    .looseObject({ [name]: z.string().max(maxLength).catch('') })
    .catch({ [name]: '' })
    .transform((form) => String(form[name] ?? '').trim())
const requestForm = pasted('request', LONGEST_PASTED)
const idTokenForm = pasted('id_token', MAX_TOKEN)
const ticketForm = z
  .object({ access_token: z.string().max(500).catch(''), own: z.string().max(200).catch('') })
  .catch({ access_token: '', own: '' })

/** Helpers for developers: check a request, decode an id_token, compute a jsTicket, compare both dialects. */
export const helperRoutes: FastifyPluginAsync<{ deps: OutboundDeps }> = async (app, { deps }) => {
  const { forDeveloper } = await developerPages(app, deps, { limit: FORM_LIMIT })
  const requests = openStandardRequests(deps)
  const described = perLocale((locale) => describeOperations(deps.config, translator(locale)))

  async function show({ person, request, page, t }: PersonRequest, shown: object = {}) {
    const apps = await appsOfPerson(deps, person)
    const chosen = chosenApp(apps, request.query)
    return page('helpers', 'developer/helpers', {
      ...shown,
      longest: LONGEST_PASTED,
      endpoints: [...new Set(ENDPOINTS.map(({ path }) => path))],
      apps,
      chosen: chosen?.app_key ?? null,
      pairs: sideBySide(described(t.locale), chosen),
    })
  }

  forDeveloper.get(HELPERS, (context) => show(context))

  const helper = (name: string, work: (context: PersonRequest) => Promise<object>) =>
    forDeveloper.form(`${HELPERS}/${name}`, HELPERS, async (context) => show(context, await work(context)))

  helper('request', async (context) => ({
    judged: await judge(context, requests, requestForm.parse(context.request.body)),
  }))

  helper('id-token', async ({ request, person, t }) => {
    const token = await requests.examineIdToken(idTokenForm.parse(request.body))
    const own = (await appsOfPerson(deps, person)).map(({ app_key }) => app_key)
    return { idToken: token ? idTokenView(deps, token, own, t) : 'none' }
  })

  helper('js-ticket', async ({ request }) => {
    const { access_token, own } = ticketForm.parse(request.body)
    const token = access_token.trim()
    if (token === '') return { ticket: 'none' }
    return { ticket: { ...checkTicket(token, own.trim()), isAccessToken: /^ghat_/.test(token) } }
  })
}
