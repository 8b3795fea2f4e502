import { z } from 'zod'
import { type ApiOperation, failuresIn, failuresOf } from '../../platform/lib/web/api-operation.ts'
import { OAUTH_CHECKS } from './check-sequences.ts'
import { OAUTH_FAILURES } from './failures.ts'
import { tokenSetShape } from './wire.ts'

/** A1–A3 as the API reference describes them (src/authorization/developer). */

/** Row 13 is about the consent form, which is posted to a path of its own. */
const { 13: _, ...OF_REQUEST } = OAUTH_CHECKS.A1

const challenge = {
  code_challenge: z.string().length(43).optional(),
  code_challenge_method: z.literal('S256').optional(),
}

const authorizeQuery = z.object({
  app_key: z.string(),
  redirect_uri: z.url(),
  response_type: z.literal('code'),
  scope: z.string(),
  state: z.string().regex(/^[A-Za-z0-9]{1,128}$/),
  ...challenge,
})

/** Optional: a client may send Basic authentication instead. */
const client = { app_key: z.string().optional(), app_secret: z.string().optional() }
const exchangeQuery = z.object({
  ...client,
  grant_type: z.literal('authorization_code'),
  code: z.string(),
  state: z.string(),
  redirect_uri: z.url(),
  code_verifier: z.string().optional(),
})
const refreshQuery = z.object({ ...client, grant_type: z.literal('refresh_token'), refresh_token: z.string() })

export const OAUTH_API: readonly ApiOperation[] = [
  {
    id: 'contract_authorize',
    dialect: 'contract',
    method: 'get',
    path: '/oauth/v2/authorize',
    at: 'PUBLIC_URL',
    query: [authorizeQuery],
    caller: 'anybody',
    answers: { 200: 'page', 303: { redirect: z.object({ code: z.string().optional(), state: z.string() }) } },
    failures: failuresIn(OAUTH_FAILURES, [OF_REQUEST], 2),
  },
  {
    id: 'contract_token',
    dialect: 'contract',
    method: 'post',
    path: '/oauth/v2/api/token',
    at: 'API_URL',
    query: [exchangeQuery, refreshQuery],
    caller: 'client',
    answers: { 200: { json: tokenSetShape } },
    failures: {
      ...failuresOf(OAUTH_FAILURES, ['app_unknown']),
      // From row 2 on: a request with a wrong method (row 1) is not a call of this operation.
      ...failuresIn(OAUTH_FAILURES, [OAUTH_CHECKS.A2, OAUTH_CHECKS.A3], 2),
    },
  },
]
