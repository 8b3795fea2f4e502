import { z } from 'zod'
import type { Fields } from '../../platform/db/record-fields.ts'
import { type InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { SCOPES, scopeTextKey, scopeTexts } from '../../platform/lib/scope.ts'
import { keyOf, type Translate } from '../../platform/lib/web/locale.ts'
import { type ShownProblem, shownProblems } from '../../platform/lib/web/worded.ts'
import { TEAM_FIELDS } from '../registry/index.ts'
import { type AppFields, registerApp } from '../teams/index.ts'

/** The form of an app; lists are typed one entry per line. */

const text = z.string().catch('')
const appForm = z.looseObject({}).catch({})

/** The form's text inputs in their order, folded ones last. */
const { scopes: _, ...PLAIN } = TEAM_FIELDS
type Name = keyof typeof PLAIN
const INPUTS = Object.entries<Fields[string]>(PLAIN)
  .map(([name, { kept, ofTeam }]) => ({ name: name as Name, isOptional: kept instanceof z.ZodNullable, ...ofTeam }))
  .toSorted((a, b) => Number(a.folded ?? false) - Number(b.folded ?? false))
const NAMES = INPUTS.map(({ name }) => name)

type TypedTexts = Readonly<Record<Name | 'kind', string>>

export interface TypedApp extends TypedTexts {
  /** By scope: whether it is requested, and why. */
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

export function fieldsOf({ scopes, kind, ...typed }: TypedApp): AppFields {
  const requested = scopes.filter((scope) => scope.asked)
  return parseInput(registerApp.input, {
    ...Object.fromEntries(
      INPUTS.map(({ name, lines, isOptional }) => {
        if (lines) return [name, linesOf(typed[name])]
        return [name, isOptional ? typed[name].trim() || null : typed[name]]
      }),
    ),
    kind,
    scopes: requested.map(({ id }) => id),
    reasons: Object.fromEntries(requested.flatMap(({ id, reason }) => (reason.trim() === '' ? [] : [[id, reason]]))),
  })
}

/** Absent fields become empty. */
export function formOfApp(
  app: Partial<Omit<AppFields, 'kind'>> & Pick<AppFields, 'scopes' | 'reasons'> & { readonly kind: string },
): TypedApp {
  const texts = NAMES.map((name) => [name, [app[name] ?? ''].flat().join('\n')])
  return {
    ...(Object.fromEntries([...texts, ['kind', app.kind]]) as TypedTexts),
    scopes: SCOPES.map((id) => ({ id, asked: app.scopes.includes(id), reason: app.reasons[id] ?? '' })),
  }
}

const textOf = (name: string, t: Translate): string => t(keyOf('developer.app.', name))

/** For views/developer/app-form.eta. */
export const inputsOf = (typed: TypedApp, t: Translate) =>
  INPUTS.map((input) => ({
    ...input,
    label: textOf(input.name, t),
    hint: textOf(`${input.name}_hint`, t),
    value: typed[input.name],
  }))

/** The checkboxes, each with a reason. */
export const scopeInputsOf = ({ scopes }: TypedApp, t: Translate) =>
  scopes.map((scope) => ({ ...scope, ...scopeTexts(scope.id, t) }))

/** For views/developer/app.eta, whose heading has name and logo. */
export const listedIn = (app: Readonly<Record<Name, string | null | readonly string[]>>, t: Translate) =>
  NAMES.filter((name) => name !== 'name' && name !== 'logo_url')
    .map((name) => ({ label: textOf(name, t), values: [app[name] ?? []].flat() }))
    .filter(({ values }) => values.length > 0)

/** Problems of the form, each with the label of its field. */
export const problemsOf = ({ problems }: InvalidInput, t: Translate): ShownProblem[] =>
  shownProblems(problems, t, (field) => {
    const scope = SCOPES.find((id) => field === `reasons.${id}`)
    if (scope) return t('developer.app.reason_for', { scope: t(scopeTextKey(scope)) })
    const key = [`developer.app.${field}`, `field.${field}`].find((one) => t.has(one))
    return key && t(key)
  })
