import { inject } from 'vitest'

/**
 * With `npm run test:pgbouncer`, the settings changed so that the process reaches its database through PgBouncer.
 * Otherwise, and for a database that is not on the test server, they are returned unchanged.
 */
export function behindPgBouncer(settings: Record<string, string>): Record<string, string> {
  const port = inject('pgbouncerPort')
  if (!port || !settings.DATABASE_URL) return settings
  const url = new URL(settings.DATABASE_URL)
  if (url.port !== new URL(inject('serverUrl')).port) return settings
  url.port = String(port)
  return { DATABASE_PLANNING: 'server', ...settings, DATABASE_URL: url.href }
}
