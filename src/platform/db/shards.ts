/** Where rows of people are: in `public`, or in schemas with a range of routing keys each (SHARDS). */

/** A routing key has two bytes. */
const ROUTING_KEYS = 2 ** 16

/** The names include the number of shards, so a process with another number finds none of them. */
export const schemasOf = (shards: number): readonly string[] =>
  shards === 1 ? [] : Array.from({ length: shards }, (_, place) => `shard_${place}_of_${shards}`)

/** The index of the shard that has this routing key. */
export const shardOf = (routingKey: number, shards: number): number => Math.floor((routingKey * shards) / ROUTING_KEYS)

/** Tables of people are found in the shard's schema, all others in `public`. */
export const searchPathOf = (schema: string): string => `${schema}, public`

/** The range of routing keys of the shard with this index. */
export const keysOfShard = (place: number, shards: number): { readonly from: number; readonly below: number } => ({
  from: (place * ROUTING_KEYS) / shards,
  below: ((place + 1) * ROUTING_KEYS) / shards,
})

interface Sharded<Db> {
  of(routingKey: number): Db
  shards(): readonly Db[]
}

export const hasShards = <Db extends Sharded<Db>>(db: Db): boolean => db.shards().length > 1

/** Groups items by the shard of their people, in the order of the shards; without shards, one group. */
export function byShard<Db extends Sharded<Db>, Item>(
  db: Db,
  items: readonly Item[],
  routingKeyOf: (item: Item) => number,
): [shard: Db, items: Item[]][] {
  const shards = db.shards()
  if (shards[1] === undefined) return shards[0] && items.length > 0 ? [[shards[0], [...items]]] : []
  const groups = new Map(shards.map((shard): [Db, Item[]] => [shard, []]))
  for (const item of items) groups.get(db.of(routingKeyOf(item)))?.push(item)
  return [...groups].filter(([, group]) => group.length > 0)
}

export const keyOfRow = ({ routing_key }: { readonly routing_key: number }): number => routing_key

/** Rows about items, read from the shard of each item's people. */
export const readByShard = async <Db extends Sharded<Db>, Item, Row>(
  db: Db,
  items: readonly Item[],
  routingKeyOf: (item: Item) => number,
  read: (shard: Db, items: Item[]) => Promise<Row[]>,
): Promise<Row[]> =>
  (await Promise.all(byShard(db, items, routingKeyOf).map(([shard, own]) => read(shard, own)))).flat()

export const ofAllShards = async <Db extends Sharded<Db>, Row>(
  db: Db,
  read: (shard: Db) => Promise<Row[]>,
): Promise<Row[]> => (await Promise.all(db.shards().map(read))).flat()
