export {
  examineReport,
  findReport,
  findSigningKey,
  type ReportFacts,
  reportKey,
  reportKeyPem,
  reportOfRun,
  storeReport,
  storeReportKeys,
  type Verdict,
  verifyForm,
} from './report.ts'
