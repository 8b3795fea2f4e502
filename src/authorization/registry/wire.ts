import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import { marked, shapeOf } from '../../platform/db/record-fields.ts'
import { asMessage } from '../../platform/lib/json/field-problem.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { Problem } from '../../platform/lib/web/rescode.ts'
import { MICRO_APP_FIELDS } from './micro-app-fields.ts'

/** What the admin routes and the command line take and give. Names are those of the wire, and of the table's columns. */

/** A micro-app that may still lack what is wrong with it. */
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
    told: 'hosts',
    problem: localized('required-without-redirect-uris'),
    holds: ({ hosts = [], redirect_uris = [], ...app }: CrossFieldInput) =>
      isPublic(app) || hosts.length + redirect_uris.length > 0,
  },
  {
    fields: ['redirect_uris', 'token_auth_methods'],
    told: 'redirect_uris',
    problem: localized('required-with-none'),
    holds: ({ redirect_uris = [], ...app }: CrossFieldInput) => !isPublic(app) || redirect_uris.length > 0,
  },
  {
    fields: ['jwks', 'jwks_uri'],
    told: 'jwks_uri',
    problem: localized('not-with-jwks'),
    holds: ({ jwks, jwks_uri }: CrossFieldInput) => !jwks || !jwks_uri,
  },
] as const

/** The rules that a micro-app as a whole does not keep, for an InvalidInput. */
export const crossFieldProblems = (app: CrossFieldInput): Problem[] =>
  RULES.filter(({ holds }) => !holds(app)).map(({ told, problem }) => ({ field: told, problem }))

/**
 * Whoever sets require_pkce means both dialects. Its initial value means OAuth 2.0 alone: the contract has no PKCE, so an app
 * of which nothing is said can use A1 as it stands there.
 */
export const withPkceInA1 = <Given extends object>(
  given: Given & { readonly require_pkce?: unknown; readonly require_pkce_in_a1?: unknown },
): Given =>
  given.require_pkce === undefined || given.require_pkce_in_a1 !== undefined
    ? given
    : { ...given, require_pkce_in_a1: given.require_pkce }

/** A micro-app to be created. An operator creates it, so it is approved unless said otherwise. */
export const newMicroApp = RULES.reduce(
  (schema, { fields, told, problem, holds }) =>
    schema.refine(holds, {
      path: [told],
      error: () => ({ message: asMessage(problem) }),
      // Told with the problems of other fields, not on top of those of its own.
      when: ({ value, issues }) =>
        fields.every((field) => !issues.some(({ path }) => path?.[0] === field)) && isObject(value),
    }),
  z.strictObject(shapeOf(MICRO_APP_FIELDS, 'created')),
)
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A micro-app as operators give it. */
export const givenMicroApp = z.preprocess((given) => (isObject(given) ? withPkceInA1(given) : given), newMicroApp)
export type NewMicroApp = z.output<typeof newMicroApp>

/** What may be changed later: only the fields that are given; a list replaces the whole list. */
export const microAppChanges = z.strictObject(shapeOf(MICRO_APP_FIELDS, 'changed')).partial()
export type MicroAppChanges = z.output<typeof microAppChanges>

const { app_key, name, logo_url, status, ...others } = shapeOf(MICRO_APP_FIELDS, 'kept')

const STAGES = ['development', 'live'] as const

/** A micro-app as it is kept and shown. */
export const microApp = z.object({
  app_key,
  name,
  logo_url,
  status,
  ...others,
  /** In development it takes answers on its developers' machines alone, for its own test users. */
  stage: z.enum(STAGES),
  /** Tokens, codes and remembered consents of before are over; null: none are. */
  valid_from: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type MicroApp = z.output<typeof microApp>

/** Which micro-apps, and which page of them: ordered by created_at, app_key. Texts are beginnings. */
export const microAppFilter = z.strictObject({
  app_key: filterText(128).optional(),
  name: filterText(100).optional(),
  status: microApp.shape.status.optional(),
  ...pageInput(z.tuple([momentKey, z.string()])),
})
export type MicroAppFilter = z.output<typeof microAppFilter>

/** Read with every token request: only what a micro-app's own calls need. */
export const callingApp = z.object({
  ...shapeOf(marked(MICRO_APP_FIELDS, 'everyCall'), 'kept'),
  valid_from: microApp.shape.valid_from,
})
export type CallingApp = z.output<typeof callingApp>

/** An app in development asks only its own test users, who use no other app. `testOf`: of which app this one is. */
export const mayUse = (
  { app_key, stage }: Pick<MicroApp, 'app_key' | 'stage'>,
  { testOf }: { readonly testOf: string | null },
): boolean => (testOf === null ? stage === 'live' : testOf === app_key)
