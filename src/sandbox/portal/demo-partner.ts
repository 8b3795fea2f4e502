import type { Deps } from '../../platform/deps.ts'
import { ENDPOINTS } from '../../ticketing/mws-wire/index.ts'
import type { Waiting } from '../certification/index.ts'

/** The partner that `npm start` provides (src/demo/README.md) for people without a system of their own. */
const DEMO_CLIENT_ID = 'demo-partner'

export const isDemo = ({ config }: Pick<Deps, 'config'>, { client_id }: { readonly client_id: string }): boolean =>
  config.DEMO && client_id === DEMO_CLIENT_ID

/** Its product for each role in a run. */
export const DEMO_PRODUCTS = {
  main: 'DEMO-BOAT',
  later: 'DEMO-CASTLE',
  review: 'DEMO-TOWER',
  level: 'DEMO-SHOW',
  sold_out: 'DEMO-SOLD-OUT',
} as const

/** A call to its control API: `POST /control/<name>` with the input as JSON. */
export interface DemoAction {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Makes it send the notice that a step waits for; undefined if it sends that by itself. */
export function demoActionFor({ path, about }: Pick<Waiting, 'path' | 'about'>): DemoAction | undefined {
  switch (path) {
    case ENDPOINTS.consume:
      // `quantity` is how many more tickets are used; none are when the step begins to wait.
      return { name: 'consume', input: { orderId: about.orderId, quantity: Number(about.usedQuantity) } }
    case ENDPOINTS.refund:
      return { name: 'decide-refund', input: { refundId: about.refundId, approve: true } }
    case ENDPOINTS['deal-change']:
      return { name: 'change-product', input: { partnerDealId: about.partnerDealId, onSale: true } }
    default:
      return undefined
  }
}
