import { z } from 'zod'
import { type ApiOperation, failuresOf } from '../../platform/lib/web/api-operation.ts'
import { OAUTH_FAILURES } from '../oauth/index.ts'
import { RESOURCE_FAILURES } from './failures.ts'
import { phoneShape, userInfoShape } from './wire.ts'

/** A4 and A5 as the API reference describes them (src/authorization/developer). */

const TOKEN = [
  'token_forged',
  'token_unknown',
  'token_revoked',
  'token_ended_early',
  'token_expired',
  'app_not_approved',
  'app_lost_scope',
  'user_blocked',
  'token_lacks_scope',
] as const

const withToken = {
  dialect: 'contract',
  method: 'post',
  at: 'API_URL',
  query: [z.object({ access_token: z.string() })],
  caller: 'anybody',
} as const satisfies Partial<ApiOperation>

const failures = {
  ...failuresOf(OAUTH_FAILURES, ['url_too_long', 'parameter_undecodable', 'parameter_repeated', 'parameter_missing']),
  ...failuresOf(RESOURCE_FAILURES, TOKEN),
}

export const RESOURCE_API: readonly ApiOperation[] = [
  {
    ...withToken,
    id: 'contract_phone',
    path: '/oauth/v2/api/resource/get_phonenumber',
    answers: { 200: { json: phoneShape } },
    failures: { ...failures, ...failuresOf(RESOURCE_FAILURES, ['no_phone_number']) },
  },
  {
    ...withToken,
    id: 'contract_user',
    path: '/oauth/v2/api/resource/get_userinfo',
    answers: { 200: { json: userInfoShape } },
    failures,
  },
]
