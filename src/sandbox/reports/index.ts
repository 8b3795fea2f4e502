export {
  examineReport,
  findReport,
  findSigningKey,
  type ReportFacts,
  reportOfRun,
  storeReport,
  storeReportKeys,
  type Verdict,
  verifyForm,
} from './report.ts'
export { reportKey, reportKeyPem } from './report-key.ts'
