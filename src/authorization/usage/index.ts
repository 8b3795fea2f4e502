/** Daily usage of each app, for its developers. */

export { type DayOfUsage, KEPT_DAYS, USAGE_RETENTION } from './store.ts'
export { keepUsage, recentUsage, writeUsage } from './usage.ts'
