import { randomBytes } from 'node:crypto'
import { sha256 } from './digest.ts'

/** Recovery codes have 80 random bits each, so a plain hash is safe to store; no letters and digits that look alike. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const CODES = 10
const CODE_LETTERS = 16
const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${CODE_LETTERS}}$`)

/** The form that is compared: people type spaces, hyphens and capitals. */
const typedCode = (typed: string): string => typed.replaceAll(/[\s-]/g, '').toLowerCase()

/** Whether this looks like a recovery code rather than a code of an authenticator. */
export const isRecoveryCode = (typed: string): boolean => RECOVERY_CODE.test(typedCode(typed))

/** The 32 bytes that are stored. `owner` names the account, so that two accounts never share a hash. */
export const hashOfRecoveryCode = (owner: string, typed: string): Buffer =>
  sha256(`recovery code\n${owner}\n${typedCode(typed)}`)

const newCode = (): string => [...randomBytes(CODE_LETTERS)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')

/** Ten new codes in groups of four letters, and their hashes. */
export function newRecoveryCodes(owner: string): { readonly codes: readonly string[]; readonly hashes: Buffer[] } {
  const codes = Array.from({ length: CODES }, newCode).map((code) => code.replaceAll(/(.{4})(?!$)/g, '$1-'))
  return { codes, hashes: codes.map((code) => hashOfRecoveryCode(owner, code)) }
}
