import { normalName } from '../../platform/lib/precis.ts'

/** Passwords that nobody may choose: whoever attacks an account tries them first. */

const SHORTEST = 8

let common: Promise<ReadonlySet<string>> | undefined

/** Loaded with the first new password, which takes 50 ms; in lower case, as the list has them. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter(({ length }) => length >= SHORTEST)),
  )
  return common
}

export type Weakness = 'common' | 'passport'

/** What is wrong with a new password of the person with this passport, in any spelling of the two. */
export async function weaknessOf(password: string, passport: string): Promise<Weakness | undefined> {
  const spelled = (text: string): string => text.normalize('NFKC').toLowerCase()
  if (spelled(password) === spelled(normalName(passport))) return 'passport'
  return (await commonPasswords()).has(spelled(password)) ? 'common' : undefined
}
