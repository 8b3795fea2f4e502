import type { Waiting } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import type { PartnerWithSecrets } from '../../partners/index.ts'

/** The partner that `npm start` brings along (src/demo/README.md). Whoever tries the sandbox with it has no system of their own. */
const DEMO_CLIENT_ID = 'demo-partner'

export const isDemo = ({ config }: Pick<Deps, 'config'>, { client_id }: { readonly client_id: string }): boolean =>
  config.DEMO && client_id === DEMO_CLIENT_ID

/** How to do the demo partner's part of a step: in its back office, or by a command. */
export interface DemoHelp {
  /** Its back office. */
  readonly office: string
  /** A call of its control API that makes it send the notice. */
  readonly curl: string
}

/**
 * Null for every other partner, and where a seller tries a program of their own as the demo partner: those have to send
 * the notice themselves.
 */
export function demoHelp(deps: Pick<Deps, 'config'>, partner: PartnerWithSecrets, waiting: Waiting): DemoHelp | null {
  const action = controlAction(waiting)
  if (!isDemo(deps, partner) || partner.base_url === null || !action) return null
  const { hostname, port } = new URL(partner.base_url)
  if (hostname !== '127.0.0.1' || port !== String(deps.config.DEMO_PARTNER_PORT)) return null
  const office = `http://localhost:${port}`
  const body = JSON.stringify(action.input).replaceAll("'", "'\\''")
  const curl = `curl -X POST ${office}/control/${action.name} -H 'Content-Type: application/json' -d '${body}'`
  return { office, curl }
}

function controlAction({ path, about }: Waiting): { name: string; input: object } | undefined {
  if (path.endsWith('/order/consume/notice')) {
    // The control API takes the tickets that are used now; the steps of a run use an order's tickets all at once.
    return { name: 'consume', input: { orderId: about.orderId, quantity: Number(about.usedQuantity) } }
  }
  if (path.endsWith('/order/refund/notice')) {
    return { name: 'decide-refund', input: { refundId: about.refundId, approve: true } }
  }
  if (path.endsWith('/deal/change/notice')) {
    return { name: 'change-product', input: { partnerDealId: about.partnerDealId, onSale: true } }
  }
  return undefined
}
