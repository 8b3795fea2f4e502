import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import type { DerivedKeys } from '../../platform/lib/crypto/keys.ts'
import { canonicalJson } from '../../platform/lib/json/canonical-json.ts'

/** The PKCS #8 encoding of an Ed25519 key, up to its 32 bytes (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** RFC 8037; `kid` is the RFC 7638 thumbprint. */
interface ReportJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'EdDSA'
}

interface ReportKey {
  readonly privateKey: KeyObject
  readonly jwk: ReportJwk
}

/** The key that signs reports. Derived from SECRET_KEY, so it is the same in every process. */
export function reportKey(keys: DerivedKeys): ReportKey {
  const der = Buffer.concat([PKCS8_HEAD, keys.report])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const thumbprint = sha256(canonicalJson({ crv: 'Ed25519', kty: 'OKP', x })).toString('base64url')
  return { privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint, use: 'sig', alg: 'EdDSA' } }
}

export const publicReportKey = (x: string): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })

/** SubjectPublicKeyInfo, as openssl reads it. */
export const reportKeyPem = (x: string): string => publicReportKey(x).export({ format: 'pem', type: 'spki' }) as string
