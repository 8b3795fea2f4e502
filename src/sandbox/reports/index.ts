export {
  examineReport,
  findReport,
  type ReportFacts,
  reportKey,
  reportOfRun,
  storeReport,
  storeReportKeys,
  type Verdict,
  verifyForm,
} from './report.ts'
