import { createPrivateKey, type KeyObject, type SignKeyObjectInput, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import type { Deps } from '../../platform/deps.ts'
import { isWithin } from '../../platform/lib/clock.ts'
import { decryptSecret } from '../../platform/lib/crypto/keys.ts'
import { ensureSigningKey, findVerifyingKeys, KEYS_READ_EVERY_S, signsAt } from './signing-key.ts'
import { ALGS, type Alg, type SealedKey, sealingContext } from './store.ts'

/** A key that is in use, ready to sign. */
export interface Signer {
  readonly kid: string
  readonly key: SignKeyObjectInput
  /** The JWT header, base64url, including the full stop. */
  readonly header: string
}

const signInThread = promisify(sign)
const jwkOf = ({ kid, alg, public_jwk }: SealedKey): JWK => ({ ...public_jwk, kid, alg, use: 'sig' })
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * A JWT (RFC 7515 §7.1), signed in Node's thread pool: the main thread is busy for 0.04 ms (RS256) or 0.03 ms (ES256),
 * against 0.11 and 0.08 ms with jose's SignJWT, and 0.39 and 0.03 ms when signing synchronously.
 */
export async function signCompact({ header, key }: Signer, claims: object): Promise<string> {
  const input = header + encoded(claims)
  const signature = await signInThread('sha256', Buffer.from(input), key)
  return `${input}.${signature.toString('base64url')}`
}

/** Caches the signing keys. Signing reads them again every ten seconds, so that a rotation reaches every process in time. */
export class SigningKeys {
  readonly #deps: Deps
  #keys: readonly SealedKey[] = []
  #readAt: Date | undefined
  #reading: Promise<void> | undefined
  readonly #signers = new Map<string, Signer>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The newest key of this algorithm that is in use. Creates the first one. */
  async signer(alg: Alg): Promise<Signer> {
    await this.#refresh()
    const found = this.#newest(alg) ?? (await this.#create(alg))
    const known = this.#signers.get(found.kid) ?? this.#open(found)
    this.#signers.set(found.kid, known)
    return known
  }

  /** Every key that clients may need, read each time: another process may have just begun to sign with a new one. */
  async publicJwks(): Promise<JWK[]> {
    await this.#read()
    for (const alg of ALGS) await this.signer(alg)
    const now = this.#deps.clock.now()
    return this.#keys.filter(({ published_until }) => published_until === null || published_until > now).map(jwkOf)
  }

  /** Every key that may have signed an id_token now sent as a hint. */
  async hintJwks(): Promise<JWK[]> {
    await this.#read()
    return this.#keys.map(jwkOf)
  }

  #newest(alg: Alg): SealedKey | undefined {
    const now = this.#deps.clock.now()
    return this.#keys.findLast((key) => key.alg === alg && signsAt(key, now))
  }

  async #create(alg: Alg): Promise<SealedKey> {
    await ensureSigningKey(this.#deps, alg)
    await this.#read()
    const created = this.#newest(alg)
    if (!created) throw new Error(`there is no signing key for ${alg}`)
    return created
  }

  #open({ kid, alg, sealed }: SealedKey): Signer {
    const jwk = JSON.parse(decryptSecret(this.#deps.keys, sealed, sealingContext(kid)))
    const key: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' })
    // ES256 signatures are two concatenated numbers (RFC 7518 §3.4); RSA ignores the option.
    return { kid, header: `${encoded({ alg, kid, typ: 'JWT' })}.`, key: { key, dsaEncoding: 'ieee-p1363' } }
  }

  async #refresh(): Promise<void> {
    if (isWithin(this.#readAt, KEYS_READ_EVERY_S, this.#deps.clock.now())) return
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    const now = this.#deps.clock.now()
    this.#keys = await findVerifyingKeys(this.#deps)
    this.#readAt = now
    for (const kid of this.#signers.keys()) if (!this.#keys.some((key) => key.kid === kid)) this.#signers.delete(kid)
  }
}
