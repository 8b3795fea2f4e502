import { expect, it } from 'vitest'
import { orderMark } from '../../src/sandbox/portal/traffic/routes.ts'

const FIRST = 8985652356562000001n
const marksOf = (count: number) =>
  Array.from({ length: count }, (_, n) => JSON.stringify(orderMark(String(FIRST + BigInt(n)))))

it('an order always has the same mark, and 36 consecutive orders have different ones', () => {
  expect(orderMark('8985652356562000001')).toEqual(orderMark('8985652356562000001'))
  expect(new Set(marksOf(36)).size).toBe(36)
  expect(marksOf(37)[36]).toBe(marksOf(1)[0])
  for (const id of ['1', '0', '9223372036854775807']) expect(orderMark(id).stroke).toMatch(/^oklch\(/)
})

it('orders of the same colour have different patterns', () => {
  const marks = marksOf(36).map((mark): { stroke: string; dashes: string } => JSON.parse(mark))
  for (const { stroke } of marks) {
    expect(new Set(marks.filter((mark) => mark.stroke === stroke).map(({ dashes }) => dashes)).size).toBe(3)
  }
})

/** Relative luminance (WCAG 2) of OKLCH, by way of OKLab and linear sRGB. */
function luminance(text: string): number {
  const [l = 0, c = 0, h = 0] = (/oklch\(([\d. ]+)\)/.exec(text)?.[1] ?? '').split(' ').map(Number)
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)]
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  const red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
  const green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
  const blue = -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short
  const [r, g, bl] = [red, green, blue].map((part) => Math.min(1, Math.max(0, part)))
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (bl ?? 0)
}

it('every colour has a contrast of 3:1 on the light and on the dark card', () => {
  const dark = 0.0127 // #171e2b
  for (const mark of marksOf(36)) {
    const own = luminance(JSON.parse(mark).stroke)
    expect(1.05 / (own + 0.05), mark).toBeGreaterThan(3)
    expect((own + 0.05) / (dark + 0.05), mark).toBeGreaterThan(3)
  }
})
