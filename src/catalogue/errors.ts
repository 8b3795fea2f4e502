import { echo } from '../lib/web/rescode.ts'
import { RefusedRequest } from '../partner-calls/index.ts'

export const noSuchProduct = (partnerDealId: string): RefusedRequest =>
  new RefusedRequest(`product ${echo(partnerDealId)} does not exist`, { status: 404 })
