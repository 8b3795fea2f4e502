import { z } from 'zod'
import { type InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { type ShownProblem, shownProblems } from '../../platform/lib/web/worded.ts'
import { TEAM_FIELDS } from '../registry/index.ts'
import { type AppFields, registerApp } from '../teams/index.ts'

/** The form of an app: lists are typed a line each. */

const text = z.string().catch('')
const appForm = z.looseObject({}).catch({})

/** Fields with an input of their own in views/developer/app-form.eta. */
const { scopes: _, ...PLAIN } = TEAM_FIELDS
const NAMES = Object.keys(PLAIN) as (keyof typeof PLAIN)[]
const isList = (name: keyof typeof PLAIN): boolean => PLAIN[name].kept instanceof z.ZodArray

type TypedTexts = Readonly<Record<keyof typeof PLAIN | 'kind', string>>

export interface TypedApp extends TypedTexts {
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
  const texts = Object.fromEntries([...NAMES, 'kind'].map((name) => [name, text.parse(form[name])])) as TypedTexts
  return { ...texts, scopes }
}

/** Throws InvalidInput. */
export function fieldsOf({ scopes, kind, ...typed }: TypedApp): AppFields {
  const asked = scopes.filter((scope) => scope.asked)
  const given = (name: keyof typeof PLAIN) => {
    if (isList(name)) return linesOf(typed[name])
    return PLAIN[name].kept instanceof z.ZodNullable ? typed[name].trim() || null : typed[name]
  }
  return parseInput(registerApp.input, {
    ...Object.fromEntries(NAMES.map((name) => [name, given(name)])),
    kind,
    scopes: asked.map(({ id }) => id),
    reasons: Object.fromEntries(asked.flatMap(({ id, reason }) => (reason.trim() === '' ? [] : [[id, reason]]))),
  })
}

/** What is not known yet is empty. */
export function formOfApp(
  app: Partial<Omit<AppFields, 'kind'>> & Pick<AppFields, 'scopes' | 'reasons'> & { readonly kind: string },
): TypedApp {
  const texts = NAMES.map((name) => [name, [app[name] ?? ''].flat().join('\n')])
  return {
    ...(Object.fromEntries([...texts, ['kind', app.kind]]) as TypedTexts),
    scopes: SCOPES.map((id) => ({ id, asked: app.scopes.includes(id), reason: app.reasons[id] ?? '' })),
  }
}

/** What is wrong with the form, each with the label of its field. */
export const problemsOf = ({ problems }: InvalidInput, t: Translate): ShownProblem[] =>
  shownProblems(problems, t, (field) => {
    const scope = SCOPES.find((id) => field === `reasons.${id}`)
    if (scope) return t('developer.app.reason_for', { scope: t(`scope.${scope.toLowerCase()}`) })
    const key = [`developer.app.${field}`, `field.${field}`].find((one) => t.has(one))
    return key && t(key)
  })
