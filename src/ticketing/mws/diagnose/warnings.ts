import { openBody } from '../../../platform/lib/crypto/aes-body.ts'
import { filledText } from '../../../platform/lib/json/fields.ts'
import { parseLossless } from '../../../platform/lib/json/lossless.ts'
import { compressedText } from '../../../platform/lib/web/body-text.ts'
import { CallRejected } from '../../mws-wire/index.ts'
import type { PartnerWithSecrets } from '../../partners/index.ts'
import { MAX_VALUES, requireJson } from '../body-guard.ts'
import type { MistakeName, Warning } from './mistakes.ts'

/** The parts of a call that the signature does not cover. */
export interface SentContent {
  readonly type: string | undefined
  /** The Content-Encoding. */
  readonly coding?: string | undefined
  /** The X-Encryption-Status. */
  readonly encryption: unknown
  /** Throws for a body that was too long to read. */
  readonly bytes: () => Buffer
}

type ContentOwner = Pick<PartnerWithSecrets, 'partner_id' | 'aes_key'>

/** A Content-Type that notices may not have is a mistake, like a wrong header of the signature. */
export const contentMistakes = ({ type }: SentContent): MistakeName[] =>
  isRefused(() => requireJson(type)) ? ['content-type-not-json'] : []

/** Why a notice with this body would be refused. */
export function contentWarnings(partner: ContentOwner, { coding, encryption, bytes }: SentContent): Warning[] {
  if (isRefused(bytes)) return ['body-too-long']
  if (bytes().length > 0 && compressedText({ 'content-encoding': coding }) !== undefined) return ['body-compressed']
  const opened = openBody(bytes(), encryption, partner.aes_key)
  const json = 'problem' in opened ? opened : parseLossless(opened.bytes, MAX_VALUES)
  return 'problem' in json ? ['body-not-json'] : partnerIdWarnings(partner.partner_id, json.value)
}

function isRefused(check: () => unknown): boolean {
  try {
    check()
    return false
  } catch (error) {
    if (error instanceof CallRejected) return true
    throw error
  }
}

/** An empty `{}` causes no warning. */
function partnerIdWarnings(partnerId: bigint, value: unknown): Warning[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return []
  const given = (value as { partnerId?: unknown }).partnerId
  if (given === undefined || given === null) return ['body-partner-id-missing']
  const text = filledText(given) ?? ''
  const matches = /^\d{1,19}$/.test(text) && BigInt(text) === partnerId
  return matches ? [] : ['body-partner-id-mismatch']
}
