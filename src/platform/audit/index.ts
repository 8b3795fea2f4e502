/** The audit log: who did what. */

export { AUDIT_ACTIONS, eventInWords } from './actions.ts'
export { auditPages, listAudit } from './list.ts'
export { asPerson, recordAudit, recordByPerson, recordIfOperator } from './record.ts'
export { SEAL_EVERY_MS, sealAudit } from './seal.ts'
export { AUDIT_RETENTION, auditBetween } from './store.ts'
export { verifyAudit } from './verify.ts'
