import { afterAll, beforeAll, expect, it } from 'vitest'
import { throttleKey } from '../../src/platform/throttle/attempts.ts'
import { countFailure } from '../../src/platform/throttle/attempts-store.ts'
import { openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const count = (subject: string) => countFailure(world.deps.db, Buffer.from(subject), world.clock.now(), 60)

it('guesses at ever new names do not fill the table: expired rows are deleted as new ones arrive', async () => {
  for (let guess = 0; guess < 20; guess++) await count(`old ${guess}`)
  world.clock.advance(61)
  await Promise.all(Array.from({ length: 20 }, (_, guess) => count(`new ${guess}`)))
  const { rows } = await world.pool.query('select convert_from(subject, $1) as subject from failed_attempt', ['UTF8'])
  expect(rows.filter(({ subject }) => subject.startsWith('old'))).toEqual([])
  expect(rows).toHaveLength(20)
})

it('a subject starts anew once its window has ended', async () => {
  await count('again')
  expect((await count('again')).failures).toBe(2)
  world.clock.advance(61)
  expect((await count('again')).failures).toBe(1)
})

it('throttle keys differ between kinds of subjects', () => {
  const { keys } = world.deps
  expect(throttleKey(keys, 'client', 'x')).not.toEqual(throttleKey(keys, 'passport', 'x'))
})
