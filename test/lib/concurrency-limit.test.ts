import { describe, expect, it } from 'vitest'
import { ConcurrencyLimit, Overloaded } from '../../src/platform/lib/concurrency-limit.ts'

/** Work that ends when the test says so. */
function work() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let begun = false
  const run = async () => {
    begun = true
    await ended
  }
  return { run, end, begun: () => begun }
}

const limit = (changes: object = {}) =>
  new ConcurrencyLimit({ name: 'the test', most: 1, length: 2, waitMs: 60_000, ...changes })

describe('a concurrency limit', () => {
  it('runs work in order of arrival, up to the limit at once', async () => {
    const queue = limit({ most: 2, length: 10 })
    const all = Array.from({ length: 5 }, work)
    const done = Promise.all(all.map(({ run }) => queue.run(run)))
    const begun = () => all.map((one) => one.begun())
    await Promise.resolve()
    expect(begun()).toEqual([true, true, false, false, false])
    all[1]?.end()
    await expect.poll(begun).toEqual([true, true, true, false, false])
    for (const { end } of all) end()
    await done
    expect(queue.waiting).toBe(0)
  })

  it('refuses work at once if too much is waiting', async () => {
    const queue = limit()
    const all = Array.from({ length: 4 }, work)
    const outcomes = all.map(({ run }) => queue.run(run))
    await expect(outcomes[3]).rejects.toThrow(new Overloaded('the test'))
    for (const { end } of all) end()
    await Promise.all(outcomes.slice(0, 3))
    expect(all.map((one) => one.begun())).toEqual([true, true, true, false])
  })

  it('refuses work after its deadline, without starting it', async () => {
    const queue = limit({ waitMs: 50 })
    const [first, second] = [work(), work()]
    const held = queue.run(first.run)
    await expect(queue.run(second.run)).rejects.toThrow(Overloaded)
    first.end()
    await held
    expect(second.begun()).toBe(false)
    await expect(queue.run(async () => 'next')).resolves.toBe('next')
  })

  it('refuses work at its own deadline, even behind work that may wait longer', async () => {
    const queue = limit({ waitMs: 2_000 })
    const held = [work(), work()]
    const holding = held.map(({ run }) => queue.run(run))
    const began = performance.now()
    await expect(queue.run(fail, began + 50)).rejects.toThrow(Overloaded)
    expect(performance.now() - began).toBeLessThan(1_000)
    for (const { end } of held) end()
    await Promise.all(holding)
  })

  it('frees the slot of work that fails', async () => {
    const queue = limit()
    await expect(queue.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await expect(queue.run(async () => 'next')).resolves.toBe('next')
  })

  it('within another limit counts there too, with one deadline for both', async () => {
    const all = limit({ most: 2, length: 10, waitMs: 50 })
    const [one, other] = [limit({ within: all, waitMs: 50 }), limit({ within: all, most: 5, waitMs: 50 })]
    const held = [work(), work()]
    const holding = [one.run(held[0]?.run ?? fail), other.run(held[1]?.run ?? fail)]
    await expect(other.run(fail)).rejects.toThrow(Overloaded)
    for (const { end } of held) end()
    await Promise.all(holding)
  })
})

const fail = (): Promise<void> => Promise.reject(new Error('begun all the same'))
