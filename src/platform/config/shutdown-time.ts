import type { Config } from './index.ts'

type Asked = Pick<Config, 'SHUTDOWN_DELAY_S' | 'SHUTDOWN_GRACE_S'>

/**
 * How many seconds a shutdown may take. Each has time to end after the one before it: an HTTP process by itself, an HTTP
 * process that hangs and is killed, the whole service.
 */
export function longestShutdown({ SHUTDOWN_DELAY_S, SHUTDOWN_GRACE_S }: Asked) {
  const seconds = SHUTDOWN_DELAY_S + SHUTDOWN_GRACE_S
  return { httpProcess: seconds + 5, hangingHttpProcess: seconds + 7, service: seconds + 10 }
}
