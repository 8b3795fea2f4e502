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
/** Characters of a form may take nine bytes. */
const FORM_LIMIT = 9 * LONGEST_PASTED
const LONGEST_TOKEN = 8_192

/** Anything unusable counts as empty; what was pasted is neither kept nor shown again. */
const pasted = (name: string, longest: number) =>
  z
    .looseObject({ [name]: z.string().max(longest).catch('') })
    .catch({ [name]: '' })
    .transform((form) => String(form[name] ?? '').trim())
const requestForm = pasted('request', LONGEST_PASTED)
const idTokenForm = pasted('id_token', LONGEST_TOKEN)
const ticketForm = z
  .object({ access_token: z.string().max(500).catch(''), own: z.string().max(200).catch('') })
  .catch({ access_token: '', own: '' })

/** Helpers for developers: what is wrong with a request, what an id_token says, a jsTicket, both dialects side by side. */
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

  forDeveloper.get(HELPERS, (given) => show(given))

  const helper = (name: string, work: (given: PersonRequest) => Promise<object>) =>
    forDeveloper.form(`${HELPERS}/${name}`, HELPERS, async (given) => show(given, await work(given)))

  helper('request', async (given) => ({
    judged: await judge(given, requests, requestForm.parse(given.request.body)),
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
