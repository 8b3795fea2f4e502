import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { perLocale, translator } from '../../platform/lib/web/locale.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { openStandardRequests } from '../oidc/index.ts'
import type { PersonRequest } from '../people/index.ts'
import { appsOfPerson } from '../teams/index.ts'
import { developerGuard, HOME, translatorOf } from './guard.ts'
import { idTokenView } from './id-token-view.ts'
import { checkTicket } from './js-ticket.ts'
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
  const { forDeveloper } = await developerGuard(app, deps, { limit: FORM_LIMIT })
  const requests = openStandardRequests(deps)
  const described = perLocale((locale) => describeOperations(deps.config, translator(locale)))

  async function show(given: PersonRequest, shown: object = {}) {
    const t = translatorOf(given)
    const apps = await appsOfPerson(deps, given.person)
    const chosen = chosenApp(apps, given.request.query)
    return given.page('helpers', 'developer/helpers', {
      alert: '',
      done: null,
      judged: null,
      idToken: null,
      ticket: null,
      asked: '',
      ...shown,
      longest: LONGEST_PASTED,
      endpoints: [...new Set(ENDPOINTS.map(({ path }) => path))],
      apps,
      chosen: chosen?.app_key ?? null,
      pairs: sideBySide(described(t.locale), chosen),
    })
  }

  app.get(
    HELPERS,
    forDeveloper((given) => show(given)),
  )

  const helper = (name: string, work: (given: PersonRequest) => Promise<object>) => {
    // Opened directly, as by a language link of the page that answers the form.
    app.get(
      `${HELPERS}/${name}`,
      forDeveloper(async ({ goTo }) => goTo(HELPERS)),
    )
    app.post(
      `${HELPERS}/${name}`,
      forDeveloper(async (given) => show(given, { asked: name, ...(await work(given)) })),
    )
  }

  helper('request', async (given) => ({
    judged: await judge(given, requests, requestForm.parse(given.request.body), translatorOf(given)),
  }))

  helper('id-token', async (given) => {
    const token = await requests.examineIdToken(idTokenForm.parse(given.request.body))
    const own = (await appsOfPerson(deps, given.person)).map(({ app_key }) => app_key)
    return { idToken: token ? idTokenView(deps, token, own, translatorOf(given)) : 'none' }
  })

  helper('js-ticket', async ({ request }) => {
    const { access_token, own } = ticketForm.parse(request.body)
    const token = access_token.trim()
    return {
      ticket: token === '' ? 'none' : { ...checkTicket(token, own.trim()), isAccessToken: /^ghat_/.test(token) },
    }
  })
}
