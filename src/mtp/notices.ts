import type { Deps } from '../deps.ts'
import { PATH } from '../mws/index.ts'
import {
  acceptNotice,
  CONSUMPTION,
  DEAL_CHANGE,
  type Kind,
  LEVEL_PRICES,
  PAY_RESULT,
  REFUND_RESULT,
  RESCHEDULE,
  type ReceivedNotice,
} from './notice.ts'

/** An endpoint that takes notices. */
export interface NoticeEndpoint {
  /** Below MOUNT. */
  readonly path: string
  /** Processes a correctly signed notice; returns the response, or throws the refusal. */
  readonly accept: (deps: Deps, received: ReceivedNotice) => Promise<string>
}

const endpoint = <Notice extends { partnerId?: string | undefined }>(
  path: string,
  kind: Kind<Notice>,
): NoticeEndpoint => ({ path, accept: (deps, received) => acceptNotice(deps, kind, received) })

/** Every notice that partners send. Adding one is adding an entry, here and in the field reference. */
export const NOTICES: readonly NoticeEndpoint[] = [
  endpoint(PATH.dealChange, DEAL_CHANGE),
  endpoint(PATH.consume, CONSUMPTION),
  endpoint(PATH.refund, REFUND_RESULT),
  endpoint(PATH.pay, PAY_RESULT),
  endpoint(PATH.reschedule, RESCHEDULE),
  endpoint(PATH.levelPrices, LEVEL_PRICES),
]
