export { type GatherMetrics, lastingOf, type ProcessMetrics, sumOf } from './exposition.ts'
export { measureProcess } from './process-facts.ts'
