import { z } from 'zod'
import { allowedAddresses, pathPrefixes, ports, whole } from './setting.ts'

/** Settings of area B: calls of partners and to them. */
export const partnerSettings = {
  MTP_PATH_PREFIXES: pathPrefixes
    .default(['', '/rhone'])
    .transform((prefixes) => [...new Set(['', ...prefixes])])
    .describe(
      'prefixes under which `/mtp/api/…` answers too, separated by commas (default: none and `/rhone`); `/dispatch=/mtp/api` lets a path stand for another one, so that programs that call it need no change: either may be signed, unless one is the other with a prefix',
    ),
  MTP_CLOCK_SKEW_S: whole(1, 86_400)
    .default(600)
    .describe('seconds that the Date of a signed call may be older or newer than now'),
  PARTNER_ADDRESS_ALLOW: allowedAddresses
    .optional()
    .describe(
      'private addresses that partner URLs, URLs of clients’ keys and webhooks of apps may use: hosts, addresses or networks, each with or without `:port`, separated by commas (default: none; with the demo `127.0.0.1:DEMO_PARTNER_PORT`). Addresses of cloud metadata must be listed one by one',
    ),
  PARTNER_PORTS: ports
    .default([])
    .describe(
      'ports that partner URLs may have besides 80 and 443, separated by commas (default: none in production, otherwise any)',
    ),
  PRICE_REMOVAL_HOLD_S: whole(0, 86_400)
    .default(60)
    .describe(
      'when a pull would remove more than half of a calendar of over ten days, it is removed only if the same pull comes again this many seconds later; 0 removes it at once',
    ),
  ORDER_PERSONAL_DATA_DAYS: whole(0, 36_500)
    .default(0)
    .describe(
      'days after the end of an order for which its visitors and contact are kept (names, phones, documents); the order itself stays. 0 keeps them for good',
    ),
  ORDER_ID_BITS: z
    .enum(['53', '63'], 'must be 53 or 63')
    .default('53')
    .transform(Number)
    .describe(
      'size of new order ids: `53` gives ids of 16 digits, which every JSON parser keeps exact; `63` gives ids of 19 digits, which many partner programs read as doubles and then answer about another order',
    ),
}
