/** Who did what. */

export { auditPages, listAudit } from './list.ts'
export { AUDIT_ACTIONS, eventInWords } from './operator.ts'
export { asPerson, recordAudit, recordByPerson, recordIfOperator } from './record.ts'
export { SEAL_EVERY_MS, sealAudit } from './seal.ts'
export { AUDIT_RETENTION, auditBetween } from './store.ts'
export { verifyAudit } from './verify.ts'
