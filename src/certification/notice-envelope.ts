import { said } from '../lib/said.ts'
import { WARNINGS } from '../mws/index.ts'
import type { Finding } from './event.ts'
import { type Stage, strictness } from './examine-code.ts'

/** Which field each warning of an accepted notice is about. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  [WARNINGS.partnerIdMissing.name, 'PartnerId'],
  [WARNINGS.bodyPartnerIdMissing.name, 'partnerId'],
])

/** What the contract requires of a notice, and this accepted one does not have. */
export const noticeEnvelopeFindings = (warnings: readonly string[], stage: Stage): Finding[] =>
  warnings.flatMap((warning) => {
    const path = FIELDS.get(warning)
    const found = { level: strictness(stage), expected: said('required'), actual: said('missing') }
    return path === undefined ? [] : [{ id: 'envelope', passed: false, path, ...found }]
  })
