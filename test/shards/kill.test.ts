import { expect, it, onTestFinished } from 'vitest'
import { Client, dataOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { httpWire } from '../acceptance/http.ts'
import { type Exchanges, startExchanges } from '../acceptance/kill-work.ts'
import { type RunningProcess, SECRET_KEY, startProcess } from '../acceptance/system.ts'
import { untilLocked } from '../locks.ts'
import { until } from '../until.ts'
import { emptyDatabase } from './empty-database.ts'
import { personOfEach, SHARDS } from './four-shards.ts'

/** A killed service leaves changes about people of four shards either complete or not made at all. */

type Database = Awaited<ReturnType<typeof emptyDatabase>>

async function start({ url }: Database): Promise<{ running: RunningProcess; client: Client }> {
  const settings = { DATABASE_URL: url, SECRET_KEY, SHARDS: String(SHARDS), DEMO: 'off', JOBS: 'off' }
  const running = await startProcess(settings)
  onTestFinished(() => running.kill())
  return { running, client: new Client(httpWire(running.origin), running.origin) }
}

it('after a kill -9, acknowledged tokens of all shards work, and codes without a response work at most once', async () => {
  const database = await emptyDatabase()
  const { running, client } = await start(database)
  const app = await client.makeApp()
  const work: Exchanges[] = []
  for (const user of await personOfEach(client))
    work.push(startExchanges(client, await client.signedIn(user, app), app))
  await until(() => work.every(({ acknowledged }) => acknowledged.length > 10))
  await running.kill()
  await Promise.all(work.map(({ ended }) => ended))
  const { client: after } = await start(database)
  for (const { acknowledged, unanswered } of work) {
    for (const { access_token } of acknowledged) dataOf(await after.userInfo(access_token))
    for (const consented of unanswered) {
      const { rescode } = JSON.parse((await after.exchange(app, consented)).text)
      expect([0, 20013]).toContain(rescode)
    }
  }
})

it('an audited change of a shard and of `public` that is interrupted between the two has no effect', async () => {
  const database = await emptyDatabase()
  const { running, client } = await start(database)
  const app = await client.makeApp()
  const [first, user] = (await personOfEach(client)) as [User, User]
  const tokens = await client.getTokens(await client.signedIn(user, app), app)
  /** Interrupts an erasure at its last statement, when the rows of the shard and the credential are already deleted. */
  const eraseUntil = async (end: (backends: number[]) => Promise<unknown>) => {
    await database.query('begin; lock table audit_event in share mode')
    const erasing = client.admin('POST', '/users/erase', { cid: user.cid, user_id: user.user_id }).catch(String)
    await untilLocked(database as never)
    const { rows } = await database.query(
      `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    await end(rows.map(({ pid }) => pid))
    await database.query('rollback')
    await erasing
    await until(async () => {
      const { rows: left } = await database.query('select from pg_stat_activity where pid = any ($1)', [
        rows.map(({ pid }) => pid),
      ])
      return left.length === 0
    })
  }
  const counts = async () => {
    const { rows } = await database.query(
      `select (select count(*)::int from shard_1_of_4.user_profile where user_id = $1) as people,
         (select count(*)::int from shard_1_of_4.user_grant where user_id = $1) as grants,
         (select count(*)::int from user_credential where user_id = $1) as credentials,
         (select count(*)::int from audit_event where event = 'user_erased') as erased`,
      [user.user_id],
    )
    return rows[0]
  }
  const whole = { people: 1, grants: 1, credentials: 1, erased: 0 }
  await eraseUntil(async (pids) => {
    expect(pids).toHaveLength(1)
    await database.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [pids])
  })
  expect(await counts()).toEqual(whole)
  dataOf(await client.userInfo(tokens.access_token))

  await eraseUntil(() => running.kill())
  expect(await counts()).toEqual(whole)
  const { client: after } = await start(database)
  dataOf(await after.userInfo(tokens.access_token))
  await after.signedIn(user, app)
  await after.admin('POST', '/users/erase', { cid: user.cid, user_id: user.user_id })
  expectFailure(await after.userInfo(tokens.access_token), { rescode: 20009 })
  expect(await counts()).toEqual({ people: 0, grants: 0, credentials: 0, erased: 1 })
  await after.signedIn(first, app)
})
