import { TICKET_PARTNER_ID, userInfo } from '../fixtures/people.ts'

/** The fixed responses of `bare`: its requests expect exactly these texts. */

const text = (answer: object): string => JSON.stringify(answer)

export const BARE_USER = { rescode: 0, data: { uinfo: userInfo(0) } }
export const BARE_TOKENS = {
  rescode: 0,
  data: {
    access_token: `ghat_${'a'.repeat(48)}`,
    expires_in: 604_800,
    refresh_token: `ghrt_${'r'.repeat(48)}`,
    scope: 'USER_INFO PHONE_NUMBER',
    token_type: 'bearer',
  },
}
export const BARE_REFUSAL = { rescode: 20009, data: { message: 'Invalid access token' } }
export const ACCEPTED = { code: 200, describe: 'success', partnerId: TICKET_PARTNER_ID }

export const BARE_TEXT = {
  user: text(BARE_USER),
  tokens: text(BARE_TOKENS),
  refusal: text(BARE_REFUSAL),
  accepted: text(ACCEPTED),
}
