export { type GatherMetrics, lastingOf, type ProcessMetrics, sumOf } from './exposition.ts'
export { keepLastHour, readLastHour } from './last-hour.ts'
export { openTracing } from './open-tracing.ts'
export { measureProcess } from './process-gauges.ts'
