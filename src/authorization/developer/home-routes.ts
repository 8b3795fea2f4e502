import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import type { PersonRequest } from '../people/index.ts'
import { acceptTerms, appsOfTeam, createTeam, isDeveloper, joinTeam, openInvitation, teamsOf } from '../teams/index.ts'
import { developerGuard, HOME, orRefused, translatorOf } from './guard.ts'

/** The token of a link in a mail; anything unusable is empty. */
const linkQuery = z.object({ token: z.string().max(100).catch('') }).catch({ token: '' })

/** Where developers begin: the terms, their teams, and the link of an invitation. */
export const homeRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forPerson, forDeveloper } = await developerGuard(app, deps)

  const terms = (given: PersonRequest, alert = '') =>
    given.page('home', 'developer/terms', { alert, open: deps.config.DEVELOPERS === 'open' })

  const home = async (given: PersonRequest, shown: { alert?: string; name?: string } = {}) =>
    given.page('home', 'developer/home', {
      alert: '',
      name: '',
      ...shown,
      teams: await Promise.all(
        (await teamsOf(deps, given.person)).map(async ({ team_id, name, role }) => ({
          ...{ id: team_id, name, role },
          apps: await appsOfTeam(deps, team_id),
        })),
      ),
    })

  app.get(
    HOME,
    forPerson(HOME, async (given) => ((await isDeveloper(deps, given.person)) ? home(given) : terms(given))),
  )

  // Opened directly, as by a language link of the page that answers the form.
  for (const path of [`${HOME}/terms`, `${HOME}/teams`])
    app.get(
      path,
      forPerson(HOME, async ({ goTo }) => goTo(HOME)),
    )

  app.post(
    `${HOME}/terms`,
    forPerson(HOME, (given) =>
      orRefused(
        given,
        async () => {
          await acceptTerms(given.deps, given.person)
          return given.goTo(HOME)
        },
        (alert) => terms(given, alert),
      ),
    ),
  )

  app.post(
    `${HOME}/teams`,
    forDeveloper(async (given) => {
      const form = createTeam.input.safeParse(given.request.body)
      if (!form.success) {
        given.reply.code(400)
        return home(given, { alert: translatorOf(given)('developer.team.name_unfit') })
      }
      return orRefused(
        given,
        async () => given.goTo(`${HOME}/teams/${await createTeam(given.deps, form.data, given.person)}`),
        (alert) => home(given, { alert, name: form.data.name }),
      )
    }),
  )

  const join = async (given: PersonRequest, token: string) => {
    const { team_name: team, role } = await openInvitation(deps, token)
    return given.page('home', 'developer/join', { team, role, token, alert: '' })
  }
  const unusable = (given: PersonRequest) => (alert: string) =>
    given.page('home', 'developer/join', { team: null, role: '', token: '', alert })

  // Only shows: programs that examine mails open every link.
  app.get(
    `${HOME}/join`,
    forPerson(HOME, (given) =>
      orRefused(given, () => join(given, linkQuery.parse(given.request.query).token), unusable(given)),
    ),
  )

  app.post(
    `${HOME}/join`,
    forPerson(HOME, (given) =>
      orRefused(
        given,
        async () => {
          const { token } = linkQuery.parse(given.request.body)
          return given.goTo(`${HOME}/teams/${await joinTeam(given.deps, token, given.person)}`)
        },
        unusable(given),
      ),
    ),
  )
}
