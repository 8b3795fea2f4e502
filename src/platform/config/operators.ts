import { z } from 'zod'
import { whole } from './setting.ts'

const GENERATE = 'generate one with: openssl rand -base64 32'

/** Settings about operators, and how long the audit log is kept. */
export const operatorSettings = {
  ADMIN_TOKEN: z
    .string()
    .min(24, `must have at least 24 characters; ${GENERATE}`)
    .regex(/^[!-~]*$/, `must be visible ASCII characters without spaces, which every program can send; ${GENERATE}`)
    .optional()
    .describe('bearer token of the first operator, an `admin` (default: none; in the demo the one in the README)'),
  ADMIN_PORT: whole(1, 65_535)
    .optional()
    .describe('port for operators alone: `/admin/v1` and the console no longer answer on `PORT`'),
  ADMIN_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address that `ADMIN_PORT` listens on; `0.0.0.0` for every interface'),
  OPERATOR_SESSION_S: whole(300, 604_800).default(43_200).describe('life of the session of an operator, seconds'),
  OPERATOR_IDLE_S: whole(60, 86_400)
    .default(1_800)
    .describe("seconds without a request after which an operator's session ends"),
  ACCOUNT_DELETION: z
    .enum(['off', 'request', 'after-14-days'], 'must be off, request or after-14-days')
    .default('request')
    .describe(
      'at `/account/data` people can ask for deletion by an operator (`request`), be deleted 14 days after they asked (`after-14-days`), or neither (`off`)',
    ),
  ACCESS_LEDGER_DAYS: whole(1, 36_500).default(365).describe('days for which it is kept which app has read whose data'),
  AUDIT_DAYS: whole(0, 36_500).default(1_095).describe('days for which the audit log is kept; 0 keeps it for good'),
}
