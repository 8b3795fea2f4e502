import './platform/lib/start-faster.ts'
import './platform/lib/no-debugger.ts'
import { type Config, longestShutdown, operatorsAddress, readConfig } from './platform/config/index.ts'
import { DEMO_ADMIN_TOKEN } from './platform/config/problems.ts'
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
if (!service.demoUrl) service.log.info({ url: consoleUrl(service.config) }, 'operators sign in on the console')

function welcome({ config, demoUrl, officeUrl }: Service): string {
  if (!demoUrl) return config.demoLeftOut ? `\n  The demo is not started: ${config.demoLeftOut}\n\n` : ''
  const { PUBLIC_URL, API_URL, ADMIN_TOKEN } = config
  const seller = [
    `Sandbox ${PUBLIC_URL}/sandbox   where a ticket seller tests its integration`,
    'as      clientId demo-partner, clientSecret demo-partner-secret-local-use-only',
    `Seller  ${officeUrl}   the back office of that ticket seller: orders, refunds, mistakes to switch on`,
    'Orders  npm run demo:order   in another terminal: the platform and the ticket seller, call by call',
  ]
  const operators = [
    `Console ${consoleUrl(config)}   where operators manage everything`,
    `as      ADMIN_TOKEN ${DEMO_ADMIN_TOKEN}`,
  ]
  const lines = [
    `Open    ${demoUrl}   the demo micro-app: click "Sign in with Gatehouse"`,
    'as      alice / alice-password   or   bob / bob-password',
    `API     ${API_URL}   app_key demo-app, app_secret demo-secret-for-local-use-only`,
    `Connect ${PUBLIC_URL}/connect   your own micro-app, in five minutes`,
    ...(officeUrl ? seller : []),
    ...(ADMIN_TOKEN === DEMO_ADMIN_TOKEN ? operators : []), // never a token set by the operator
    'Stop    Ctrl-C',
  ]
  return `\n  Gatehouse is ready.\n\n${lines.map((line) => `    ${line}\n`).join('')}\n`
}

function consoleUrl(config: Config): string {
  return `${config.ADMIN_PORT === undefined ? config.PUBLIC_URL : operatorsAddress(config)}/console`
}
