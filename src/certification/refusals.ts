import { said } from '../lib/said.ts'
import { FORGED_DATE_AGE_S, type Forgery } from '../partner-calls/index.ts'
import type { ExpectedChecks } from './checks.ts'
import type { Refusal } from './examine-code.ts'

/** How a call that was forged in this way has to be refused, and the level of the check that it was. */
export const REFUSAL_OF = {
  signature: {
    refusal: { check: 'signature-checked', accepted: said('accepted-signature'), ofSignature: true },
    expects: { 'signature-checked': 'error' },
  },
  /** A warning only: no seller's program in the field looks at the age of the Date. */
  date: {
    refusal: { check: 'date-checked', accepted: said('accepted-date', { minutes: String(FORGED_DATE_AGE_S / 60) }) },
    expects: { 'date-checked': 'warning' },
  },
  client: {
    refusal: { check: 'client-checked', accepted: said('accepted-client'), ofSignature: true },
    expects: { 'client-checked': 'error' },
  },
} as const satisfies Record<Forgery, { readonly refusal: Refusal; readonly expects: ExpectedChecks }>
