/** What an interface answers; code 200 and `success` unless it says otherwise. partnerId is added to all. */
export interface Answer {
  readonly code?: number
  readonly describe?: string
  readonly body?: unknown
  /** Some interfaces have fields next to `body`. */
  readonly totalSize?: number
  readonly partnerDealId?: string
}

/** A failure as the platform is to read it. Without a code the interface's code for malformed requests is used. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number | undefined

  constructor(describe: string, code?: number) {
    super(describe)
    this.code = code
  }
}

/** Ends an interface with the code of the payload page that fits; `describe` is read by people. */
export function refuse(code: number, describe: string): never {
  throw new Refusal(describe, code)
}
