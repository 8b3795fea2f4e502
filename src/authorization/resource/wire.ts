import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { FoundAccessToken } from './store.ts'

/** data of get_phonenumber (REFERENCE "Answers of area A"). */
export const phoneShape = z.object({ phone_number: z.string() })
export type PhoneResult = Readonly<z.output<typeof phoneShape>>

/** data of get_userinfo (REFERENCE "Answers of area A"): cid and user_id identify a user only together. */
export const userInfoShape = z.object({
  uinfo: z.object({
    /** 0 unknown, 1 male, 2 female. */
    gender: z.string(),
    user_id: z.string(),
    cid: z.int(),
    name: z.string(),
    big_avatar_url: z.string(),
  }),
})
export type UserInfoResult = Readonly<z.output<typeof userInfoShape>>

export const userInfoResult = ({ gender, user_id, cid, name, big_avatar_url }: FoundAccessToken): UserInfoResult => ({
  uinfo: { gender, user_id, cid, name, big_avatar_url },
})

/** A6 (REFERENCE "Endpoints of area A"): MD5 of the Base64 of the token's UTF-8 bytes, in 32 lower-case hex characters. */
export const jsTicket = (accessToken: string): string =>
  createHash('md5').update(Buffer.from(accessToken, 'utf8').toString('base64')).digest('hex')
