import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import type { PersonRequest } from '../people/index.ts'
import {
  acceptTerms,
  appsOfTeams,
  createTeam,
  isDeveloper,
  joinTeam,
  openInvitation,
  teamsOfPerson,
} from '../teams/index.ts'
import { developerPages, HOME, orRefused } from './guard.ts'

/** Token of a link in a mail; empty if unusable. */
const linkQuery = z.object({ token: z.string().max(100).catch('') }).catch({ token: '' })

/** Start page of developers: the terms, their teams, and invitation links. */
export const homeRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forPerson, forDeveloper } = await developerPages(app, deps)

  const terms = (context: PersonRequest, alert = '') =>
    context.page('home', 'developer/terms', { alert, open: deps.config.DEVELOPERS === 'open' })

  const home = async (context: PersonRequest, alert = '') => {
    const teams = await teamsOfPerson(deps.db, context.person)
    const apps = await appsOfTeams(
      deps.db,
      teams.map(({ team_id }) => team_id),
    )
    return context.page('home', 'developer/home', {
      alert,
      name: typedText(context.request.body, 'name'),
      teams: teams.map(({ team_id, name, role }) => ({
        ...{ id: team_id, name, role },
        apps: apps.filter((app) => app.team_id === team_id),
      })),
    })
  }

  forPerson.get(HOME, async (context) =>
    (await isDeveloper(deps.db, context.person)) ? home(context) : terms(context),
  )

  forPerson.form(`${HOME}/terms`, { page: HOME, show: terms }, async (context) => {
    await acceptTerms(context.deps, context.person)
    return HOME
  })

  const newTeam = { page: HOME, show: home, unfit: 'developer.team.name_unfit' }
  forDeveloper.form(`${HOME}/teams`, newTeam, async (context) => {
    const made = parseInput(createTeam.input, context.request.body)
    return `${HOME}/teams/${await createTeam(context.deps, made, context.person)}`
  })

  const join = {
    page: `${HOME}/join`,
    show: (context: PersonRequest, alert: string) => context.page('home', 'developer/join', { alert }),
  }

  // GET changes nothing: mail scanners open every link.
  forPerson.get(join.page, (context) =>
    orRefused(context, join, async () => {
      const { token } = linkQuery.parse(context.request.query)
      const { team_name: team, role } = await openInvitation(deps, token)
      return context.page('home', 'developer/join', { team, role, token })
    }),
  )

  forPerson.form(join.page, join, async (context) => {
    const { token } = linkQuery.parse(context.request.body)
    return `${HOME}/teams/${await joinTeam(context.deps, token, context.person)}`
  })
}
