export { examineReport, findReport, reportOfRun, storeReport, storeReportKeys, type Verdict } from './report.ts'
export { reportKey } from './report-key.ts'
export { type ReportFacts, verifyForm } from './wire.ts'
