/** Repeatable random choices: request 4711 of seed 1 is the same in every run, whatever came before it. */
export interface Random {
  /** At least 0, below `limit`. */
  int(limit: number): number
  pick<T>(list: readonly T[]): T
  /** True in this share of cases, 0 to 1. */
  chance(share: number): boolean
}

/** mulberry32, seeded from the seed of the run and the place in it. */
export function randomAt(seed: number, place: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(place + 1, 0x85ebca6b)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (limit: number): number => Math.floor(next() * limit)
  return {
    int,
    pick: (list) => list[int(list.length)] as (typeof list)[number],
    chance: (share) => next() < share,
  }
}

/**
 * Settings from the environment: FUZZ_SEED (`random` picks one), FUZZ_REQUESTS, FUZZ_ANSWERS, FUZZ_PULLS, and
 * FUZZ_EVERY to test every nth pair of signature mistakes. By default each `npm test` does the same; `npm run fuzz`
 * looks for new failures.
 */
export const fuzzSettings = () => ({
  seed: seedFrom(process.env.FUZZ_SEED ?? '1'),
  requests: Number(process.env.FUZZ_REQUESTS ?? 1_500),
  answers: Number(process.env.FUZZ_ANSWERS ?? 400),
  pulls: Number(process.env.FUZZ_PULLS ?? 400),
  everyNth: Number(process.env.FUZZ_EVERY ?? 5),
})

const seedFrom = (text: string): number => (text === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(text))
