export { type GatherMetrics, lastingOf, type ProcessMetrics, sumOf } from './exposition.ts'
export { hourOf, keepHistory, writeHistory } from './history.ts'
export {
  type ActivitySpan,
  activityBySpan,
  HISTORY_RETENTION,
  type RankedActivity,
  worstSince,
} from './history-store.ts'
export { keepLastHour, readLastHour } from './last-hour.ts'
export { openTracing } from './open-tracing.ts'
