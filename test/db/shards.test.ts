import { describe, expect, it } from 'vitest'
import { byShard, ofAllShards, schemasOf, shardOf } from '../../src/platform/db/shards.ts'

describe('a routing key', () => {
  it.each([1, 2, 4, 8, 256])('belongs to one of %i shards with equal ranges', (shards) => {
    const places = Array.from({ length: 65_536 }, (_, key) => shardOf(key, shards))
    for (let place = 0; place < shards; place++) {
      expect(places.filter((one) => one === place)).toHaveLength(65_536 / shards)
    }
    expect(places).toEqual([...places].sort((one, other) => one - other))
  })

  it('stays within the two halves of its shard when the number of shards is doubled', () => {
    for (let key = 0; key < 65_536; key += 97) expect(Math.floor(shardOf(key, 8) / 2)).toBe(shardOf(key, 4))
  })
})

describe('a shard', () => {
  it('has a schema whose name gives the number of shards, unless there is only one', () => {
    expect(schemasOf(1)).toEqual([])
    expect(schemasOf(2)).toEqual(['shard_0_of_2', 'shard_1_of_2'])
  })

  class Shards {
    readonly place: number | undefined
    readonly all: Shards[]
    constructor(count: number, place?: number) {
      this.place = place
      this.all = place === undefined ? Array.from({ length: count }, (_, at) => new Shards(count, at)) : []
    }
    shards = () => (this.all.length > 1 ? this.all : [this])
    of = (routingKey: number): Shards => this.shards()[shardOf(routingKey, this.shards().length)] ?? this
  }
  const groups = (count: number, keys: number[]) =>
    byShard<Shards, number>(new Shards(count), keys, (key) => key).map(([{ place }, own]) => [place, own])

  it('gets all its own items together, in the order of the shards', () => {
    expect(groups(4, [65_535, 3, 40_000, 1])).toEqual([
      [0, [3, 1]],
      [2, [40_000]],
      [3, [65_535]],
    ])
    expect(groups(4, [])).toEqual([])
  })

  it('is the whole database if there is only one', () => {
    expect(groups(1, [65_535, 3])).toEqual([[undefined, [65_535, 3]]])
    expect(groups(1, [])).toEqual([])
  })

  it('is queried for its rows together with all others', async () => {
    expect(await ofAllShards(new Shards(4), async ({ place }) => [place, place])).toEqual([0, 0, 1, 1, 2, 2, 3, 3])
  })
})
