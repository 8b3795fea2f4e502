import { z } from 'zod'
import { allowedAddresses, pathPrefixes, ports, whole } from './setting.ts'

/** Settings of area B: calls of partners and to them. */
export const partnerSettings = {
  MTP_PATH_PREFIXES: pathPrefixes
    .default(['', '/rhone'])
    .transform((prefixes) => [...new Set(['', ...prefixes])])
    .describe('prefixes under which `/mtp/api/…` answers too; `/dispatch=/mtp/api` lets a path stand for another one'),
  MTP_CLOCK_SKEW_S: whole(1, 86_400)
    .default(600)
    .describe('seconds that the Date of a signed call may differ from now'),
  PARTNER_ADDRESS_ALLOW: allowedAddresses
    .optional()
    .describe(
      'private addresses that may be called (partners, clients’ keys, webhooks): hosts, addresses or networks, with or without `:port` (default with the demo: `127.0.0.1:DEMO_PARTNER_PORT`). Cloud metadata must be listed address by address',
    ),
  PARTNER_PORTS: ports
    .default([])
    .describe('ports of partner URLs besides 80 and 443 (default: none in production, otherwise any)'),
  PRICE_REMOVAL_HOLD_S: whole(0, 86_400)
    .default(60)
    .describe(
      'seconds after which a pull that would remove more than half of a calendar of over ten days must be repeated to do so; 0 removes at once',
    ),
  ORDER_PERSONAL_DATA_DAYS: whole(0, 36_500)
    .default(0)
    .describe(
      'days after the end of an order for which its visitors and contact are kept; 0 keeps them for good. A paid order without a travel date ends when its tickets are used or refunded',
    ),
  ORDER_ID_BITS: z
    .enum(['53', '63'], 'must be 53 or 63')
    .default('53')
    .transform(Number)
    .describe('new order ids: `53` gives 16 digits; `63` 19, which many partner programs round'),
}
