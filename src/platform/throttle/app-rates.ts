import type { Config } from '../config/index.ts'
import type { Rate } from '../lib/rate-limiter.ts'

const perMinute = (kind: string, most: number): Rate => ({ kind, most, windowS: 60 })

/** How often one app may do what, counted by its app_key for all processes. */
export const APP_RATES = {
  refreshes: (config: Config): Rate => perMinute('refresh', config.REFRESHES_PER_MINUTE),
  pushed: (config: Config): Rate => perMinute('pushed request', config.PUSHED_REQUESTS_PER_MINUTE),
  pushedBytes: (config: Config): Rate => perMinute('pushed bytes', config.PUSHED_BYTES_PER_MINUTE),
}
