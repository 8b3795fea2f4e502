import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { marked, shapeOf } from '../../platform/db/record-fields.ts'
import { asMessage } from '../../platform/lib/json/field-problem.ts'
import { shownName } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { memberMail } from '../../platform/lib/member.ts'
import type { Problem } from '../../platform/lib/web/rescode.ts'
import { MICRO_APP_FIELDS } from './micro-app-fields.ts'

/** The input and output of operators' actions on micro-apps. Names are those of the table's columns. */

/** The fields that cross-field rules read; any may be missing. */
interface CrossFieldInput {
  readonly hosts?: readonly string[] | undefined
  readonly redirect_uris?: readonly string[] | undefined
  readonly token_auth_methods?: readonly string[] | undefined
  readonly jwks?: object | null | undefined
  readonly jwks_uri?: string | null | undefined
}

const isPublic = ({ token_auth_methods = [] }: CrossFieldInput): boolean => token_auth_methods.includes('none')

/** Rules across fields, and the field that each problem is reported on. */
const RULES = [
  {
    fields: ['hosts', 'redirect_uris', 'token_auth_methods'],
    reportedOn: 'hosts',
    problem: localized('required-without-redirect-uris'),
    holds: ({ hosts = [], redirect_uris = [], ...app }: CrossFieldInput) =>
      isPublic(app) || hosts.length + redirect_uris.length > 0,
  },
  {
    fields: ['redirect_uris', 'token_auth_methods'],
    reportedOn: 'redirect_uris',
    problem: localized('required-with-none'),
    holds: ({ redirect_uris = [], ...app }: CrossFieldInput) => !isPublic(app) || redirect_uris.length > 0,
  },
  {
    fields: ['jwks', 'jwks_uri'],
    reportedOn: 'jwks_uri',
    problem: localized('not-with-jwks'),
    holds: ({ jwks, jwks_uri }: CrossFieldInput) => !jwks || !jwks_uri,
  },
] as const

/** The cross-field rules that a micro-app violates, for an InvalidInput. */
export const crossFieldProblems = (app: CrossFieldInput): Problem[] =>
  RULES.filter(({ holds }) => !holds(app)).map(({ reportedOn, problem }) => ({ field: reportedOn, problem }))

/**
 * Setting require_pkce sets it for both dialects. Its default holds for OAuth 2.0 alone: the contract has no PKCE, so by
 * default an app can use A1 as the contract describes it.
 */
export const withPkceInA1 = <Given extends object>(
  given: Given & { readonly require_pkce?: unknown; readonly require_pkce_in_a1?: unknown },
): Given =>
  given.require_pkce === undefined || given.require_pkce_in_a1 !== undefined
    ? given
    : { ...given, require_pkce_in_a1: given.require_pkce }

/** A micro-app to be created. It is approved by default, since an operator creates it. */
export const newMicroApp = RULES.reduce(
  (schema, { fields, reportedOn, problem, holds }) =>
    schema.refine(holds, {
      path: [reportedOn],
      error: () => ({ message: asMessage(problem) }),
      // Reported beside problems of other fields, but not if its own fields have problems already.
      when: ({ value, issues }) =>
        fields.every((field) => !issues.some(({ path }) => path?.[0] === field)) && isObject(value),
    }),
  z.strictObject(shapeOf(MICRO_APP_FIELDS, 'created')),
)
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asGiven = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((given) => (isObject(given) ? withPkceInA1(given) : given), schema)

/** What operators enter. */
export const givenMicroApp = asGiven(newMicroApp)
export type NewMicroApp = z.output<typeof newMicroApp>

/** An app for developers: of a team that is there, or of a new one into which `mail` is invited. */
export const givenAppOfTeam = asGiven(
  newMicroApp.safeExtend({
    team_id: shownName(60).meta({ flag: 'team' }).optional(),
    mail: memberMail.optional(),
  }),
)

/** Changes only the fields that are given; a list replaces the whole list. */
export const microAppChanges = z.strictObject(shapeOf(MICRO_APP_FIELDS, 'changed')).partial()
export type MicroAppChanges = z.output<typeof microAppChanges>

const { app_key, name, logo_url, status, ...others } = shapeOf(MICRO_APP_FIELDS, 'kept')

const STAGES = ['development', 'live'] as const

/** A micro-app as it is stored and shown. */
export const microApp = z.object({
  app_key,
  name,
  logo_url,
  status,
  ...others,
  /** In development its redirect URIs must be on loopback, and only its own test users can use it. */
  stage: z.enum(STAGES),
  /** Tokens, codes and remembered consents from before have ended; null: none have. */
  valid_from: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type MicroApp = z.output<typeof microApp>

/** Filters by prefixes; ordered by created_at, app_key. */
export const microAppFilter = z.strictObject({
  app_key: filterText(128).optional(),
  name: filterText(100).optional(),
  status: microApp.shape.status.optional(),
  ...pageInput(z.tuple([momentKey, z.string()])),
})
export type MicroAppFilter = z.output<typeof microAppFilter>

/** Read with every token request, so only the fields that those need. */
export const callingApp = z.object({
  ...shapeOf(marked(MICRO_APP_FIELDS, 'everyCall'), 'kept'),
  valid_from: microApp.shape.valid_from,
})
export type CallingApp = z.output<typeof callingApp>

/** An app in development is for its own test users, who may use no other app. `testOf`: the app of a test user. */
export const mayUse = (
  { app_key, stage }: Pick<MicroApp, 'app_key' | 'stage'>,
  { testOf }: { readonly testOf: string | null },
): boolean => (testOf === null ? stage === 'live' : testOf === app_key)
