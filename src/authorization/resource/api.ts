import { z } from 'zod'
import { type ApiOperation, failuresIn, failuresOf } from '../../platform/lib/web/api-operation.ts'
import { OAUTH_FAILURES } from '../oauth/index.ts'
import { RESOURCE_CHECKS } from './check-sequences.ts'
import { RESOURCE_FAILURES } from './failures.ts'
import { phoneShape, userInfoShape } from './wire.ts'

/** A4 and A5 as the API reference describes them (src/authorization/developer). */

const withToken = {
  dialect: 'contract',
  method: 'post',
  at: 'API_URL',
  query: [z.object({ access_token: z.string() })],
  caller: 'anybody',
} as const satisfies Partial<ApiOperation>

const PARAMETERS = failuresOf(OAUTH_FAILURES, [
  'url_too_long',
  'parameter_undecodable',
  'parameter_repeated',
  'parameter_missing',
])

export const RESOURCE_API: readonly ApiOperation[] = [
  {
    ...withToken,
    id: 'contract_phone',
    path: '/oauth/v2/api/resource/get_phonenumber',
    answers: { 200: { json: phoneShape } },
    failures: { ...PARAMETERS, ...failuresIn(RESOURCE_FAILURES, [RESOURCE_CHECKS.A4], 3) },
  },
  {
    ...withToken,
    id: 'contract_user',
    path: '/oauth/v2/api/resource/get_userinfo',
    answers: { 200: { json: userInfoShape } },
    failures: { ...PARAMETERS, ...failuresIn(RESOURCE_FAILURES, [RESOURCE_CHECKS.A5], 3) },
  },
]
