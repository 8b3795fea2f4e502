import { setTimeout as sleep } from 'node:timers/promises'
import { orderTalk } from './demo/index.ts'
import { openLongLived } from './long-lived.ts'
import { openContext, reportFailure } from './operations/cli/index.ts'
import { openLog } from './platform/lib/log.ts'

/** `npm run demo:order`, while the demo runs in another terminal. */
const say = (line: string) => process.stdout.write(`${line}\n`)
await openContext(process)
  .withDeps((deps) => {
    const { longLived, close } = openLongLived(deps, openLog({ level: 'fatal', pretty: false }, process.stderr))
    return orderTalk({ deps: { ...deps, ...longLived }, say, wait: (seconds) => sleep(seconds * 1000) }).finally(close)
  })
  .catch((error: unknown) => {
    process.exitCode = reportFailure(process, error, false)
  })
