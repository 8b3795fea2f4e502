import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { JSON_TYPE, NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { perLocale, translator } from '../../platform/lib/web/locale.ts'
import { localeOfRequest, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { findSession, sessionCookie } from '../account/index.ts'
import { appsOfPerson } from '../teams/index.ts'
import { curlOf } from './examples.ts'
import { openApi } from './openapi.ts'
import { chosenApp, type OwnApp, ownExample } from './own-values.ts'
import { quickstart } from './quickstart.ts'
import { type DescribedOperation, describeOperations, MAX_SEARCH, matching } from './reference.ts'

const docsQuery = z.object({ q: z.string().max(MAX_SEARCH).catch('') }).catch({ q: '' })

/** Adds curl commands, with the values of the reader's app. */
function withCommands(operation: DescribedOperation, app: OwnApp | undefined) {
  const { dialect } = operation
  const requests = operation.requests.map((request) => {
    const example = ownExample(dialect, request.example, app)
    const parameters = request.parameters.map((parameter) => ({ ...parameter, example: example[parameter.name] }))
    return { ...request, parameters, example, curl: curlOf(operation, example) }
  })
  // `curl` is for endpoints without parameters.
  return { ...operation, requests, curl: curlOf(operation, {}) }
}

export const developerRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = sessionCookie(config)
  // Sign-out may redirect to the OpenID provider.
  const pageOptions = { scripts: true, leadsOutside: config.UPSTREAM_ISSUER !== undefined }
  const document = perLocale((locale) => JSON.stringify(openApi(config, translator(locale)), null, 2))
  const described = perLocale((locale) => describeOperations(config, translator(locale)))

  /** The apps of the signed-in person, and the one chosen for the page. */
  async function ownApps(request: FastifyRequest) {
    const session = config.DEVELOPERS === 'off' ? null : await findSession(deps, cookie.read(request))
    const apps = session ? await appsOfPerson(deps.db, session) : []
    const person = session && { name: session.name, avatarUrl: session.avatarUrl }
    return { apps, app: chosenApp(apps, request.query), person }
  }

  app.get('/openapi.json', (request, reply) =>
    reply
      .headers({ ...NO_STORE_HEADERS, 'Content-Type': JSON_TYPE, Vary: 'Accept-Language, Cookie' })
      .send(document(localeOfRequest(request))),
  )

  app.get('/docs', async (request, reply) => {
    const all = described(localeOfRequest(request))
    const { q } = docsQuery.parse(request.query)
    const found = matching(all, q)
    const { apps, app: own, person } = await ownApps(request)
    const shown = found.map((operation) => withCommands(operation, own))
    const data = {
      q,
      longest: MAX_SEARCH,
      found: found.length,
      all: all.length,
      standard: shown.filter(({ dialect }) => dialect === 'standard'),
      contract: shown.filter(({ dialect }) => dialect === 'contract'),
      // The page's CSP only lets it call its own origin.
      tried: new URL(config.API_URL).origin === new URL(config.PUBLIC_URL).origin,
      apps,
      chosen: own?.app_key ?? null,
      person,
      section: 'docs',
    }
    return sendPage(request, reply, 'developer/reference', data, pageOptions)
  })

  app.get('/connect', async (request, reply) => {
    const { apps, app: own, person } = await ownApps(request)
    const shown = quickstart(config, textsFor(request), own)
    const chosen = own?.app_key ?? null
    const data = { ...shown, apps, chosen, person, section: 'connect', developers: config.DEVELOPERS !== 'off' }
    return sendPage(request, reply, 'developer/connect', data, pageOptions)
  })
}
