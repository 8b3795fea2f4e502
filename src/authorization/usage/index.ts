/** What each app does by day, for its developers. */

export { type DayOfUsage, KEPT_DAYS, USAGE_RETENTION } from './store.ts'
export { keepUsage, recentUsage, writeUsage } from './usage.ts'
