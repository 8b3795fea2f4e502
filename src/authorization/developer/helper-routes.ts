import type { FastifyPluginAsync } from 'fastify'
import { typedText } from '../../platform/lib/web/forms.ts'
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

/** What was pasted, empty if it is too long. It is neither stored nor shown again. */
function pasted(context: PersonRequest, field: string, most: number): string {
  const text = typedText(context.request.body, field)
  return text.length > most ? '' : text.trim()
}

/** Helpers for developers: check a request, decode an id_token, compute a jsTicket, compare both dialects. */
export const helperRoutes: FastifyPluginAsync<{ deps: OutboundDeps }> = async (app, { deps }) => {
  const { forDeveloper } = await developerPages(app, deps, { limit: FORM_LIMIT })
  const requests = openStandardRequests(deps)
  const described = perLocale((locale) => describeOperations(deps.config, translator(locale)))

  async function show({ person, request, page, t }: PersonRequest, shown: object = {}) {
    const apps = await appsOfPerson(deps.db, person)
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
    forDeveloper.form(`${HELPERS}/${name}`, { page: HELPERS, show: (context) => show(context) }, async (context) =>
      show(context, await work(context)),
    )

  helper('request', async (context) => ({
    judged: await judge(context, requests, pasted(context, 'request', LONGEST_PASTED)),
  }))

  helper('id-token', async (context) => {
    const token = await requests.examineIdToken(pasted(context, 'id_token', MAX_TOKEN))
    const own = (await appsOfPerson(deps.db, context.person)).map(({ app_key }) => app_key)
    return { idToken: token ? idTokenView(deps, token, own, context.t) : 'none' }
  })

  helper('js-ticket', async (context) => {
    const token = pasted(context, 'access_token', 500)
    if (token === '') return { ticket: 'none' }
    return { ticket: { ...checkTicket(token, pasted(context, 'own', 200)), isAccessToken: /^ghat_/.test(token) } }
  })
}
