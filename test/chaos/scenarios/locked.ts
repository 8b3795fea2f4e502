import { callsAt, count, waitsText } from '../calls.ts'
import { percent, type Scenario } from '../scenario.ts'
import { READY, refundCalls, userInfoCalls } from '../works.ts'

const PATIENCE_MS = 45_000

/** A table is locked, and ten notices per second need to read it. */
export const locked: Scenario = async ({ world, options, start, progress }) => {
  const service = await start()
  const refunds = await refundCalls(world, 500)
  const seconds = 20 * options.scale
  const client = await world.pool.connect()
  await client.query('begin')
  await client.query('lock table refund in access exclusive mode')
  progress(`the table refund is locked; ten notices a second for ${seconds} s`)
  const [notices, reads, ready] = await Promise.all([
    callsAt(10, seconds, service.port, refunds, PATIENCE_MS),
    callsAt(10, seconds, service.port, userInfoCalls(world), PATIENCE_MS),
    callsAt(2, seconds, service.port, () => READY, PATIENCE_MS),
  ])
  await client.query('rollback')
  client.release()
  await service.stop()
  const failing = (outcomes: typeof reads) => percent(outcomes.length - count(outcomes, 200), outcomes.length)
  return [
    { figure: 'A5 reads that fail', value: failing(reads) },
    { figure: 'A5 waits', value: waitsText(reads) },
    { figure: '/readyz that fail', value: failing(ready) },
    { figure: 'refund notices wait', value: waitsText(notices) },
  ]
}
