import { createHash } from 'node:crypto'
import type { FoundToken } from './store.ts'

/** data of get_phonenumber (DECISIONS "Answers of area A"). */
export interface PhoneResult {
  readonly phone_number: string
}

/** data of get_userinfo (DECISIONS "Answers of area A"): cid and user_id identify a user only together. */
export interface UserInfoResult {
  readonly uinfo: {
    /** "0" unknown, "1" male, "2" female */
    readonly gender: string
    readonly user_id: string
    readonly cid: number
    readonly name: string
    readonly big_avatar_url: string
  }
}

export const userInfoResult = ({ gender, user_id, cid, name, big_avatar_url }: FoundToken): UserInfoResult => ({
  uinfo: { gender, user_id, cid, name, big_avatar_url },
})

/** jsTicket of an access token: MD5 of the Base64 of its UTF-8 bytes, 32 lower-case hex characters (DECISIONS "Endpoints of area A", A6). */
export const jsTicket = (accessToken: string): string =>
  createHash('md5').update(Buffer.from(accessToken, 'utf8').toString('base64')).digest('hex')
