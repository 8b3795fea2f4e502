import closeWithGrace from 'close-with-grace'
import { startService } from './service.ts'

/** The process: start, say where to look, and close with grace on a signal or a fatal error. */
const service = await startService().catch((error: Error) => {
  process.stderr.write(`Gatehouse cannot start:\n${error.message.replace(/^/gm, '  ')}\n`)
  process.exit(1)
})

closeWithGrace({ delay: service.graceMs, logger: false }, async ({ err }) => {
  if (err) service.log.fatal({ err }, 'ending because of an unexpected failure')
  await service.stop()
})
