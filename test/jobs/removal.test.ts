import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeJob, retryJob } from '../../src/operations/jobs/job.ts'
import { removeOldFailures } from '../../src/operations/jobs/store.ts'
import { enqueue, failJobPermanently, findJob } from '../../src/platform/db/jobs-store.ts'
import { inTransaction } from '../../src/platform/deps.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

/** A failed job that runs again is not removed, however late that is seen. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

async function failedJob(key: string): Promise<string> {
  await enqueue(world.deps.db, 'purge', {}, { key })
  const { rows } = await world.pool.query('select id from graphile_worker.jobs where key = $1', [key])
  await failJobPermanently(world.deps.db, rows[0].id, 'what went wrong')
  await world.pool.query("update graphile_worker._private_jobs set updated_at = now() - interval '31 days'")
  return rows[0].id
}

it('an operator cannot remove a job that another one is just retrying', async () => {
  const job_id = await failedJob('removed')
  const removal = await inTransaction(world.deps, async (inside) => {
    await retryJob(inside, { job_id })
    const removing = removeJob(world.deps, { job_id, reason: 'nothing to do' }).then(
      () => 'removed',
      ({ message }: Error) => message,
    )
    await untilLocked(world.pool)
    return { removing }
  })
  expect(await removal.removing).toContain(`job ${job_id} has not failed for good`)
  expect(await findJob(world.deps.db, job_id)).toMatchObject({ state: 'waiting' })
})

it('the removal of old failures leaves such a job alone', async () => {
  const job_id = await failedJob('old')
  const removing = await inTransaction(world.deps, async (inside) => {
    await retryJob(inside, { job_id })
    const done = removeOldFailures(world.deps.db)
    await Promise.race([done, untilLocked(world.pool)])
    return { done }
  })
  await removing.done
  expect(await findJob(world.deps.db, job_id)).toMatchObject({ state: 'waiting' })
})
