import { openBody } from '../../../platform/lib/crypto/aes-body.ts'
import { filledText } from '../../../platform/lib/json/fields.ts'
import { parseLossless } from '../../../platform/lib/json/lossless.ts'
import { compressedText } from '../../../platform/lib/web/body-text.ts'
import { CallRejected } from '../../mws-wire/index.ts'
import type { PartnerWithSecrets } from '../../partners/index.ts'
import { MAX_VALUES, requireJson } from '../body-guard.ts'
import { CREDENTIAL_MISTAKES } from './credentials.ts'
import { QUERY_SIGNED } from './path-recipes.ts'
import type { SigningMistake } from './recipe.ts'

/** Warnings about accepted calls, under stable names. */
export const WARNINGS = {
  bodyTooLong: {
    name: 'body-too-long',
    explanation: 'The HTTP body is too long: a notice with it is refused.',
  },
  bodyCompressed: {
    name: 'body-compressed',
    explanation: 'The HTTP body is compressed (Content-Encoding), which is not read: a notice with it is refused.',
  },
  bodyNotJson: {
    name: 'body-not-json',
    explanation: 'The HTTP body is empty, cut off or not JSON in UTF-8: a notice with it is refused.',
  },
  bodyPartnerIdMissing: {
    name: 'body-partner-id-missing',
    explanation: 'The JSON object has no partnerId: a notice without it is refused until the partner is live.',
  },
  bodyPartnerIdMismatch: {
    name: 'body-partner-id-mismatch',
    explanation: 'The partnerId in the JSON object does not belong to this clientId: a notice with it is refused.',
  },
  voucherListMissing: {
    name: 'voucher-list-missing',
    explanation:
      'The order has one code per ticket, but its consumption notice has no voucherList: the platform then knows only how many tickets are used, and marks vouchers only when all of them must be. Until the partner is live, such a notice is refused.',
  },
  fieldsLeftOut: {
    name: 'fields-left-out',
    explanation:
      'Fields of the pay notice that decide nothing (voucherPics, realNameType, code, describe) have another type than the field reference says. They are left out; the tickets are accepted.',
  },
  implausible: {
    name: 'implausible-prices',
    explanation:
      'Prices look like mistakes: far from the median of this calendar (yuan, not cents), settlement above sale, or a day that occurs again with other prices. They are stored as received.',
  },
  partnerIdMissing: CREDENTIAL_MISTAKES.partnerIdMissing,
  querySigned: QUERY_SIGNED,
} as const satisfies Record<string, SigningMistake>

export type Warning = (typeof WARNINGS)[keyof typeof WARNINGS]['name']

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
export const contentMistakes = ({ type }: SentContent): SigningMistake[] =>
  isRefused(() => requireJson(type)) ? [CREDENTIAL_MISTAKES.contentType] : []

/** Why a notice with this body would be refused. */
export function contentWarnings(partner: ContentOwner, { coding, encryption, bytes }: SentContent): Warning[] {
  const tooLong = isRefused(bytes)
  const compressed = !tooLong && bytes().length > 0 && compressedText({ 'content-encoding': coding }) !== undefined
  const opened = tooLong || compressed ? undefined : openBody(bytes(), encryption, partner.aes_key)
  const json = opened && ('problem' in opened ? opened : parseLossless(opened.bytes, MAX_VALUES))
  return [
    ...(tooLong ? [WARNINGS.bodyTooLong.name] : []),
    ...(compressed ? [WARNINGS.bodyCompressed.name] : []),
    ...(json && 'problem' in json ? [WARNINGS.bodyNotJson.name] : []),
    ...(json && 'value' in json ? partnerIdWarnings(partner.partner_id, json.value) : []),
  ]
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
  if (given === undefined || given === null) return [WARNINGS.bodyPartnerIdMissing.name]
  const text = filledText(given) ?? ''
  const matches = /^\d{1,19}$/.test(text) && BigInt(text) === partnerId
  return matches ? [] : [WARNINGS.bodyPartnerIdMismatch.name]
}
