import './platform/lib/compile-cache.ts'
import './platform/lib/navigator.ts'
import './platform/lib/no-debugger.ts'
import { type Config, DEMO_ADMIN_TOKEN, readConfig } from './platform/config/index.ts'
import { operatorsAddress } from './platform/config/listeners.ts'
import { longestShutdown } from './platform/config/shutdown-time.ts'
import { runProgram } from './platform/lib/run-program.ts'
import type { Service } from './process/index.ts'

/** Starts the service, prints what to open, and shuts down gracefully on a signal or fatal error, even during startup. */
const service = await runProgram('Gatehouse cannot start', async ({ signal, endWithin }) => {
  const config = readConfig()
  endWithin(longestShutdown(config).service)
  // Imported late, so that bad settings are reported before most of the program is loaded.
  const { startService } = await import('./process/index.ts')
  return startService(config, signal)
})
process.stdout.on('error', () => {}) // a full disk is no reason to end
process.stdout.write(welcome(service))
logConsoleUrl(service)

/** Without the demo, the log says where operators sign in. */
function logConsoleUrl({ config, log, demoUrl }: Service): void {
  if (!demoUrl) log.info({ url: consoleUrl(config) }, 'operators sign in on the console')
}

function welcome({ config, demoUrl, officeUrl }: Service): string {
  if (!demoUrl) return config.demoLeftOut ? `\n  The demo is not started: ${config.demoLeftOut}\n\n` : ''
  return `
  Gatehouse is ready.

    Open    ${demoUrl}   the demo micro-app: click "Sign in with Gatehouse"
    as      alice / alice-password   or   bob / bob-password
    API     ${config.API_URL}   app_key demo-app, app_secret demo-secret-for-local-use-only
    Connect ${config.PUBLIC_URL}/connect   your own micro-app, in five minutes
${officeUrl ? partnerLines(config.PUBLIC_URL, officeUrl) : ''}${consoleLines(config)}    Stop    Ctrl-C

`
}

function partnerLines(publicUrl: string, officeUrl: string): string {
  return `\
    Sandbox ${publicUrl}/sandbox   where a ticket seller tests its integration
    as      clientId demo-partner, clientSecret demo-partner-secret-local-use-only
    Seller  ${officeUrl}   the back office of that ticket seller: orders, refunds, mistakes to switch on
    Orders  npm run demo:order   in another terminal: the platform and the ticket seller, call by call
`
}

function consoleUrl(config: Config): string {
  return `${config.ADMIN_PORT === undefined ? config.PUBLIC_URL : operatorsAddress(config)}/console`
}

/** Only the public demo token is printed, never one set by the operator. */
function consoleLines(config: Config): string {
  if (config.ADMIN_TOKEN !== DEMO_ADMIN_TOKEN) return ''
  return `\
    Console ${consoleUrl(config)}   where operators manage everything
    as      ADMIN_TOKEN ${DEMO_ADMIN_TOKEN}
`
}
