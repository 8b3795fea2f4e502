import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { endInOrder, endTogether } from '../../src/platform/lib/end-all.ts'
import { openDeps } from '../../src/process/http-server.ts'
import { openWorld, SECRET_KEY } from '../harness.ts'

/** A part that fails to end must not keep the pool, the database or another process from ending. */

const ended: string[] = []
const ends = (name: string) => async () => {
  await sleep(1)
  ended.push(name)
}
const fails = (name: string) => () => Promise.reject(new Error(name))

it('parts end in order, and the first failure is thrown once all have ended', async () => {
  const ending = endInOrder(ends('requests'), fails('one'), fails('another'), ends('pool'), ends('database'))
  await expect(ending).rejects.toThrow('one')
  expect(ended.splice(0)).toEqual(['requests', 'pool', 'database'])
  await endInOrder(ends('pool'), () => undefined)
  expect(ended.splice(0)).toEqual(['pool'])
})

it('parts end at once, and a failure is thrown once all have ended', async () => {
  const throws = () => {
    throw new Error('at once')
  }
  await expect(endTogether(throws, ends('jobs'))).rejects.toThrow('at once')
  expect(ended.splice(0)).toEqual(['jobs'])
})

it('connections are closed although something that uses them could not be ended', async () => {
  const world = await openWorld()
  onTestFinished(() => world.close())
  const database = { databaseUrl: world.databaseUrl, secretKey: SECRET_KEY, nodes: undefined }
  const { deps, close } = await openDeps(world.deps.config, world.log, database)
  await deps.db.exec(sql`select`)
  deps.incoming.close = () => Promise.reject(new Error('a thread that does not end'))
  await expect(close()).rejects.toThrow('a thread that does not end')
  await expect(deps.db.exec(sql`select`)).rejects.toThrow('not available')
})
