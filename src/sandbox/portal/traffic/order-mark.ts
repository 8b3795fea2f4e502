/** Lengths of dashes and gaps: the pattern distinguishes marks too, not colour alone. */
const PATTERNS = ['none', '10 4', '3 3'] as const
const COLOURS = 12

/** The line beside each call of one order: as light or dark in every colour, so that it is seen on both grounds. */
export interface OrderMark {
  readonly stroke: string
  readonly dashes: string
}

/** The mark of an order, always the same; one of 36, so two orders may share one. The row says the id too. */
export function orderMark(orderId: string): OrderMark {
  // The last digits of ids that follow one another differ most.
  const number = Number(BigInt(orderId) % BigInt(COLOURS * PATTERNS.length))
  const hue = (number % COLOURS) * (360 / COLOURS)
  return { stroke: `oklch(0.6 0.13 ${hue})`, dashes: PATTERNS[Math.floor(number / COLOURS)] ?? 'none' }
}
