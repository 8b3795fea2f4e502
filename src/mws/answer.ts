/** The envelope of area B (DECISIONS "Endpoints of area B"). */
export interface Answer {
  /**
   * 200 success, 300 error, 404 no such path; 400 a pay notice that is not accepted: some programs read 300 as
   * "received"
   */
  readonly code: 200 | RefusalCode
  /** Exactly `success` on success. */
  readonly describe: string
  /** Text; empty if the caller is unknown and sent no PartnerId. */
  readonly partnerId: string
}

export type RefusalCode = 300 | 400 | 404

export const accepted = (partnerId: bigint): Answer => ({
  code: 200,
  describe: 'success',
  partnerId: String(partnerId),
})

export const refused = (describe: string, partnerId: string, code: RefusalCode = 300): Answer => ({
  code,
  describe,
  partnerId,
})
