import type { NewUser } from '../../src/authorization/account/wire.ts'

export const ALICE: NewUser = {
  cid: 1,
  user_id: '10001',
  passport: 'alice',
  password: 'alice-password',
  name: 'Alice',
  gender: '2',
  big_avatar_url: 'https://pictures.example/alice.png',
  phone_number: '13800000001',
  status: 'active',
}

export const BOB: NewUser = { ...ALICE, user_id: '10002', passport: 'bob', password: 'bob-password', name: 'Bob' }

/** The headers browsers send when a form of our pages is submitted. */
export const FORM = {
  'content-type': 'application/x-www-form-urlencoded',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-site': 'same-origin',
}

export const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()
