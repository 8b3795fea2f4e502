import closeWithGrace from 'close-with-grace'
import { type Service, startService } from './service.ts'

/** The process: start, say what to open, and close with grace on a signal or a fatal error. */
const service = await startService().catch((error: Error) => {
  process.stderr.write(`Gatehouse cannot start:\n${error.message.replace(/^/gm, '  ')}\n`)
  process.exit(1)
})

closeWithGrace({ delay: (service.config.SHUTDOWN_GRACE_S + 5) * 1000, logger: false }, async ({ err }) => {
  if (err) service.log.fatal({ err }, 'ending because of an unexpected failure')
  await service.stop()
})

process.stdout.write(welcome(service))

function welcome({ config, demoUrl, officeUrl }: Service): string {
  if (!demoUrl) return ''
  return `
  Gatehouse is ready.

    Open    ${demoUrl}   the demo micro-app: click "Sign in"
    as      alice / alice-password   or   bob / bob-password
    API     ${config.PUBLIC_URL}   app_key demo-app, app_secret demo-secret-for-local-use-only
${officeUrl ? partnerLines(config.PUBLIC_URL, officeUrl) : ''}    Stop    Ctrl-C

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
