export {
  examineReport,
  findReport,
  type ReportFacts,
  reportOfRun,
  storeReport,
  storeReportKeys,
  type Verdict,
  verifyForm,
} from './report.ts'
export { reportKey } from './report-key.ts'
