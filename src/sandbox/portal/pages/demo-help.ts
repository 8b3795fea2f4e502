import type { Deps } from '../../../platform/deps.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import type { Waiting } from '../../certification/index.ts'
import { demoActionFor, isDemo } from '../demo-partner.ts'

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
  const action = demoActionFor(waiting)
  if (!isDemo(deps, partner) || partner.base_url === null || !action) return null
  const { hostname, port } = new URL(partner.base_url)
  if (hostname !== '127.0.0.1' || port !== String(deps.config.DEMO_PARTNER_PORT)) return null
  const office = `http://localhost:${port}`
  const body = JSON.stringify(action.input).replaceAll("'", "'\\''")
  const curl = `curl -X POST ${office}/control/${action.name} -H 'Content-Type: application/json' -d '${body}'`
  return { office, curl }
}
