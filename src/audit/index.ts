/** Who did what. */

export { type AuditRow, auditBetween } from './between-store.ts'
export { exportAudit, listAudit } from './list.ts'
export { type Actor, recordAudit, recordIfOperator } from './record.ts'
export { SEAL_EVERY_MS, sealAudit } from './seal.ts'
export { AUDIT_RETENTION } from './store.ts'
export { type Verified, verifyAudit, verifyAuditInTime } from './verify.ts'
export { auditExport, auditPage, type ShownEvent, verification } from './wire.ts'
