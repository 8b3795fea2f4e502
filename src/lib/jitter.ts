/**
 * Seconds to wait before attempt `n` + 1 (0 after the first): anything between nothing and an upper end that doubles,
 * so that those who failed together do not come back together ("full jitter").
 */
export const fullJitter = (n: number, first: number, longest: number): number =>
  Math.random() * Math.min(longest, first * 2 ** Math.min(n, 30))
