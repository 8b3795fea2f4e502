import { setTimeout as sleep } from 'node:timers/promises'
import { orderTalk } from './demo/index.ts'
import { openContext, reportFailure } from './operations/cli/index.ts'

/** `npm run demo:order`, while the demo runs in another terminal. */
const say = (line: string) => process.stdout.write(`${line}\n`)
await openContext(process)
  .withDeps((deps) => orderTalk({ deps, say, wait: (seconds) => sleep(seconds * 1000) }))
  .catch((error: unknown) => {
    process.exitCode = reportFailure(process, error, false)
  })
