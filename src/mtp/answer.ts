/** The envelope of area B (DECISIONS "Endpoints of area B"). */
export interface Answer {
  /** 200 success, 300 error, 404 no such path; 400 a pay notice that is not taken: programs in the field read 300 as "received" */
  readonly code: 200 | RefusalCode
  /** Exactly `success` on success. */
  readonly describe: string
  /** Text; empty where the caller is nobody we know and claimed to be nobody. */
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
