import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { afterFailure } from '../../src/operations/jobs/after-failure.ts'
import { giveUpJob } from '../../src/operations/jobs/job.ts'
import { GiveUp } from '../../src/operations/jobs/task.ts'
import { enqueue } from '../../src/platform/db/jobs-store.ts'
import { openWorld, type World } from '../harness.ts'

/** The end of a failed run is handled late if the database was away: the job may be somebody else's by then. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.pool.query('delete from graphile_worker._private_jobs')
  await world.pool.query("delete from audit_event where event = 'job_given_up'")
})

const KEY = 'a-key'
const MAX_ATTEMPTS = 20
/** A job with these columns, as a run with the first of its attempts has left it. */
async function jobWith(columns: string): Promise<string> {
  await enqueue(world.deps.db, 'pull-due', {}, { key: KEY, afterS: 900 })
  const { rows } = await world.pool.query(
    `update graphile_worker._private_jobs set ${columns} where key = $1 returning id`,
    [KEY],
  )
  return String(rows[0].id)
}
const givenUp = async (): Promise<string[]> =>
  (
    await world.pool.query("select detail ->> 'reason' as reason from audit_event where event = 'job_given_up'")
  ).rows.map(({ reason }) => reason)
const state = async () =>
  (await world.pool.query('select attempts, last_error from graphile_worker.jobs where key = $1', [KEY])).rows

it('a job that gives up is recorded once, and so is one after its last attempt', async () => {
  const id = await jobWith('attempts = 1')
  expect(await afterFailure(world.deps, { id, key: KEY, attempts: 1 }, new GiveUp('out of time'))).toBe('failed')
  expect(await givenUp()).toEqual(['out of time'])
  const last = await jobWith(`attempts = ${MAX_ATTEMPTS}, last_error = 'no answer'`)
  const failed = { id: last, key: KEY, attempts: MAX_ATTEMPTS }
  expect(await afterFailure(world.deps, failed, new Error('no answer'))).toBe('failed')
  expect(await givenUp()).toEqual(['out of time', 'no answer'])
})

it('a job that another worker has taken since is left to it', async () => {
  const id = await jobWith("attempts = 2, locked_at = now(), locked_by = 'another'")
  expect(await afterFailure(world.deps, { id, key: KEY, attempts: 1 }, new GiveUp('out of time'))).toBe('again')
  expect(await givenUp()).toEqual([])
})

it('a job that another worker takes at this moment is left to it', async () => {
  const id = await jobWith('attempts = 1')
  await world.pool.query(
    `create function take() returns trigger language plpgsql as $$ begin return null; end $$;
     create trigger a_take before update on graphile_worker._private_jobs for each row execute function take()`,
  )
  try {
    expect(await afterFailure(world.deps, { id, key: KEY, attempts: 1 }, new GiveUp('out of time'))).toBe('again')
    expect(await givenUp()).toEqual([])
  } finally {
    await world.pool.query('drop function take cascade')
  }
})

it('a job that has failed for good in another worker is recorded by that one alone', async () => {
  const id = await jobWith(`attempts = ${MAX_ATTEMPTS}, last_error = 'theirs'`)
  expect(await afterFailure(world.deps, { id, key: KEY, attempts: MAX_ATTEMPTS - 1 }, new Error('ours'))).toBe('failed')
  expect(await givenUp()).toEqual([])
})

it('a job that an operator has given up since is recorded by the operator alone', async () => {
  const id = await jobWith('attempts = 1')
  await giveUpJob(world.deps, { job_id: id, reason: 'the partner is gone' })
  expect(await afterFailure(world.deps, { id, key: KEY, attempts: 1 }, new GiveUp('out of time'))).toBe('failed')
  expect(await givenUp()).toEqual(['the partner is gone'])
})

it('a job that was queued anew since keeps its time and its attempts', async () => {
  const id = await jobWith('attempts = 0')
  expect(await afterFailure(world.deps, { id, key: KEY, attempts: 3 }, new GiveUp('out of time'))).toBe('again')
  expect(await state()).toEqual([{ attempts: 0, last_error: null }])
})
