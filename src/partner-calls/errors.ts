import { type Failure, RescodeError } from '../lib/web/rescode.ts'

/**
 * A request of a partner or an operator is refused. `describe` is the sentence that is sent: in the response to a
 * notice (code 300), over /admin/v1 (20007) and on the command line.
 */
export class RefusedRequest extends RescodeError {
  readonly describe: string

  constructor(describe: string, failure: Failure = {}) {
    super(20007, { ...failure, what: describe })
    this.describe = describe
  }
}

export const unknownPartner = (partnerId: bigint): RefusedRequest =>
  new RefusedRequest(`partner ${partnerId} does not exist`, { status: 404 })
