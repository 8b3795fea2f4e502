/** The envelope of area B (source, "Response envelope of area B"). */
export interface Answer {
  /** 200 success, 300 error */
  readonly code: 200 | 300
  /** Exactly `success` on success. */
  readonly describe: string
  /** Text; empty where the caller is nobody we know and claimed to be nobody. */
  readonly partnerId: string
}

export const accepted = (partnerId: bigint): Answer => ({
  code: 200,
  describe: 'success',
  partnerId: String(partnerId),
})

export const refused = (describe: string, partnerId: string): Answer => ({ code: 300, describe, partnerId })
