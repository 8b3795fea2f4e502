import { z } from 'zod'
import { type InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { type ShownProblem, shownProblems } from '../../platform/lib/web/worded.ts'
import { type AppFields, registerApp } from '../teams/index.ts'

/** The form of an app: lists are typed a line each. */

const text = z.string().catch('')
const appForm = z
  .looseObject({ name: text, logo_url: text, redirect_uris: text, hosts: text, kind: text })
  .catch({ name: '', logo_url: '', redirect_uris: '', hosts: '', kind: '' })

export interface TypedApp {
  readonly name: string
  readonly logo_url: string
  readonly redirect_uris: string
  readonly hosts: string
  readonly kind: string
  /** By scope: whether it is asked for, and what for. */
  readonly scopes: readonly { readonly id: string; readonly asked: boolean; readonly reason: string }[]
}

const linesOf = (typed: string): string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export function typedApp(body: unknown): TypedApp {
  const form = appForm.parse(body)
  const scopes = SCOPES.map((id) => ({
    id,
    asked: form[`scope_${id}`] !== undefined,
    reason: text.parse(form[`reason_${id}`]),
  }))
  const { name, logo_url, redirect_uris, hosts, kind } = form
  return { name, logo_url, redirect_uris, hosts, kind, scopes }
}

/** Throws InvalidInput. */
export function fieldsOf({ redirect_uris, hosts, logo_url, scopes, ...typed }: TypedApp): AppFields {
  const asked = scopes.filter((scope) => scope.asked)
  return parseInput(registerApp.input, {
    ...typed,
    logo_url: logo_url.trim() === '' ? null : logo_url.trim(),
    redirect_uris: linesOf(redirect_uris),
    hosts: linesOf(hosts),
    scopes: asked.map(({ id }) => id),
    reasons: Object.fromEntries(asked.flatMap(({ id, reason }) => (reason.trim() === '' ? [] : [[id, reason]]))),
  })
}

export const formOfApp = (app: Omit<AppFields, 'kind'> & { readonly kind: string }): TypedApp => ({
  name: app.name,
  logo_url: app.logo_url ?? '',
  redirect_uris: app.redirect_uris.join('\n'),
  hosts: app.hosts.join('\n'),
  kind: app.kind,
  scopes: SCOPES.map((id) => ({ id, asked: app.scopes.includes(id), reason: app.reasons[id] ?? '' })),
})

const LABELS: Readonly<Record<string, string>> = {
  name: 'developer.app.name',
  logo_url: 'developer.app.logo',
  redirect_uris: 'developer.app.redirect_uris',
  hosts: 'developer.app.hosts',
  scopes: 'developer.app.scopes',
  kind: 'developer.app.kind',
}

/** What is wrong with the form, each with the label of its field. */
export const problemsOf = ({ problems }: InvalidInput, t: Translate): ShownProblem[] =>
  shownProblems(problems, t, (field) => {
    const scope = SCOPES.find((id) => field === `reasons.${id}`)
    if (scope) return t('developer.app.reason_for', { scope: t(`scope.${scope.toLowerCase()}`) })
    return LABELS[field] && t(LABELS[field])
  })
