/** Who did what. */

export { exportAudit, listAudit } from './list.ts'
export { recordAudit, recordIfOperator } from './record.ts'
export { SEAL_EVERY_MS, sealAudit } from './seal.ts'
export { AUDIT_RETENTION, auditBetween } from './store.ts'
export { verifyAudit, verifyAuditInTime } from './verify.ts'
export { auditExport, verification } from './wire.ts'
