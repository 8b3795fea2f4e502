import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeAsks } from '../../bench/asks.ts'
import { call, count, waitsText } from '../calls.ts'
import { percent, type Scenario } from '../scenario.ts'

const CODES = 20
const PATIENCE_MS = 45_000

/** Code exchanges meet a locked table: how many are answered with 503 and still take effect once the lock is released? */
export const abandoned: Scenario = async ({ world, start, progress }) => {
  const { pool } = world
  const service = await start()
  const asks = (await exchangeAsks(world, 'gatehouse', CODES)).slice(0, CODES)
  const number = async (text: string): Promise<number> => (await pool.query(text)).rows[0].n
  const spentCodes = () => number('select count(*)::int as n from authorization_code where used_at is not null')
  const waiting = () => number(`select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'`)
  const before = await spentCodes()
  const client = await pool.connect()
  await client.query('begin')
  await client.query('lock table access_token in access exclusive mode')
  progress(`the table access_token is locked; ${CODES} codes are exchanged`)
  const outcomes = await Promise.all(
    asks.map(({ target }) =>
      call(service.port, { method: 'POST', target, headers: { 'Content-Length': '0' } }, PATIENCE_MS),
    ),
  )
  const backends = await waiting()
  await client.query('rollback')
  client.release()
  await sleep(3_000)
  const done = (await spentCodes()) - before - count(outcomes, 200)
  await service.stop()
  return [
    { figure: 'code exchanges wait', value: waitsText(outcomes) },
    { figure: 'answered 503 and yet done', value: percent(done, count(outcomes, 503)) },
    { figure: 'statements still at work for callers who have gone', value: String(backends) },
  ]
}
