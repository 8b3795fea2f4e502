import { InvalidInput } from '../json/input.ts'
import { localized } from '../localized-text.ts'
import { normalName } from '../precis.ts'

const SHORTEST = 8

let common: Promise<ReadonlySet<string>> | undefined

/** Loaded with the first new password, which takes 50 ms; all in lower case. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter(({ length }) => length >= SHORTEST)),
  )
  return common
}

/** Each with the key of its text on pages. */
const WEAKNESSES = {
  common: { text: 'password.common', problem: localized('password-common') },
  name: { text: 'password.is_passport', problem: localized('password-is-name') },
} as const
type Weakness = keyof typeof WEAKNESSES

export class WeakPassword extends Error {
  override readonly name = 'WeakPassword'
  readonly text: (typeof WEAKNESSES)[Weakness]['text']

  constructor(weakness: Weakness) {
    super(`weak password: ${weakness}`)
    this.text = WEAKNESSES[weakness].text
  }
}

/** `names`: what the account signs in with, in any spelling. */
async function weaknessOf(password: string, names: readonly string[]): Promise<Weakness | undefined> {
  const folded = (text: string): string => text.normalize('NFKC').toLowerCase()
  if (names.some((name) => folded(password) === folded(normalName(name)))) return 'name'
  return (await commonPasswords()).has(folded(password)) ? 'common' : undefined
}

export async function refuseWeakPassword(password: string, ...names: readonly string[]): Promise<void> {
  const weakness = await weaknessOf(password, names)
  if (weakness) throw new WeakPassword(weakness)
}

/** Checks a field of an operator's input: throws InvalidInput. */
export async function refuseWeakInput(password: string, ...names: readonly string[]): Promise<void> {
  const weakness = await weaknessOf(password, names)
  if (weakness) throw new InvalidInput([{ field: 'password', problem: WEAKNESSES[weakness].problem }])
}
