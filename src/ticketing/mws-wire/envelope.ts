/** The envelope of area B (REFERENCE "Endpoints of area B"). */
export interface Envelope {
  /** 200 success, 300 error, 404 no such path, 400 refused pay notice (endpoints.ts). */
  readonly code: 200 | RejectionCode
  /** Exactly `success` on success. */
  readonly describe: string
  /** Text; empty if the caller is unknown and sent no PartnerId. */
  readonly partnerId: string
}

export const ANSWER_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
} as const

export type RejectionCode = 300 | 400 | 404

export const successEnvelope = (partnerId: bigint): Envelope => ({
  code: 200,
  describe: 'success',
  partnerId: String(partnerId),
})

export const rejectionEnvelope = (describe: string, partnerId: string, code: RejectionCode = 300): Envelope => ({
  code,
  describe,
  partnerId,
})
