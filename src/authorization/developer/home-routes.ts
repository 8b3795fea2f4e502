import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import type { PersonRequest } from '../people/index.ts'
import { acceptTerms, appsOfTeam, createTeam, isDeveloper, joinTeam, openInvitation, teamsOf } from '../teams/index.ts'
import { developerPages, HOME, orRefused, typedText } from './guard.ts'

/** Token of a link in a mail; empty if unusable. */
const linkQuery = z.object({ token: z.string().max(100).catch('') }).catch({ token: '' })

/** Start page of developers: the terms, their teams, and invitation links. */
export const homeRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forPerson, forDeveloper } = await developerPages(app, deps)

  const terms = (given: PersonRequest, alert = '') =>
    given.page('home', 'developer/terms', { alert, open: deps.config.DEVELOPERS === 'open' })

  const home = async (given: PersonRequest, alert = '') =>
    given.page('home', 'developer/home', {
      alert,
      name: typedText(given, 'name'),
      teams: await Promise.all(
        (await teamsOf(deps, given.person)).map(async ({ team_id, name, role }) => ({
          ...{ id: team_id, name, role },
          apps: await appsOfTeam(deps, team_id),
        })),
      ),
    })

  forPerson.get(HOME, async (given) => ((await isDeveloper(deps, given.person)) ? home(given) : terms(given)))

  forPerson.form(`${HOME}/terms`, HOME, (given) =>
    orRefused(given, {
      work: async () => {
        await acceptTerms(given.deps, given.person)
        return HOME
      },
      show: (alert) => terms(given, alert),
    }),
  )

  forDeveloper.form(`${HOME}/teams`, HOME, (given) =>
    orRefused(given, {
      work: async () => {
        const made = parseInput(createTeam.input, given.request.body)
        return `${HOME}/teams/${await createTeam(given.deps, made, given.person)}`
      },
      show: (alert) => home(given, alert),
      unfit: 'developer.team.name_unfit',
    }),
  )

  const unusable = (given: PersonRequest) => (alert: string) => given.page('home', 'developer/join', { alert })

  // GET changes nothing: mail scanners open every link.
  forPerson.get(`${HOME}/join`, async (given) => {
    const { token } = linkQuery.parse(given.request.query)
    const work = async () => {
      const { team_name: team, role } = await openInvitation(deps, token)
      return given.page('home', 'developer/join', { team, role, token })
    }
    return orRefused(given, { work, show: unusable(given) })
  })

  forPerson.form(`${HOME}/join`, `${HOME}/join`, (given) =>
    orRefused(given, {
      work: async () => {
        const { token } = linkQuery.parse(given.request.body)
        return `${HOME}/teams/${await joinTeam(given.deps, token, given.person)}`
      },
      show: unusable(given),
    }),
  )
}
