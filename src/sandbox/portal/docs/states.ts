import type { Locale } from '../../../platform/lib/web/locale.ts'
import { ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from '../../../ticketing/orders/index.ts'
import { translated } from './meanings.ts'

/** State diagrams as SVG: boxes on a grid, and an arrow per transition. Lengths are units of the SVG's view box. */

const BOX = { width: 132, height: 40 }
const CELL = { width: 200, height: 104 }
const MARGIN = 24
/** How far arrows bend sideways, so that two opposite ones do not overlap. */
const BEND = 16

interface Point {
  readonly x: number
  readonly y: number
}

/** Column and row of each state; fractions are allowed. */
type Places<State extends string> = Readonly<Record<State, readonly [column: number, row: number]>>

const centreOf = ([column, row]: readonly [number, number]): Point => ({
  x: MARGIN + BOX.width / 2 + column * CELL.width,
  y: MARGIN + BOX.height / 2 + row * CELL.height,
})

const rounded = (value: number): number => Math.round(value * 10) / 10

/** Where a line from a box's centre towards a point leaves the box. */
function edgeOf(centre: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - centre.x, towards.y - centre.y]
  const scale = Math.min(BOX.width / 2 / Math.abs(dx || 1e-9), BOX.height / 2 / Math.abs(dy || 1e-9))
  return { x: centre.x + dx * scale, y: centre.y + dy * scale }
}

/** A line between the edges of two boxes. */
function arrow(from: Point, to: Point): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = Math.hypot(dx, dy)
  const bend = BEND + length / 16
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend }
  const text = ({ x, y }: Point) => `${rounded(x)} ${rounded(y)}`
  return `M${text(edgeOf(from, middle))} Q${text(middle)} ${text(edgeOf(to, middle))}`
}

/** Draws a table of states (src/ticketing/orders/states.ts). */
function diagramOf<State extends string>(
  table: Readonly<Record<State, { readonly next: readonly State[] }>>,
  places: Places<State>,
) {
  const states = Object.keys(table) as State[]
  const centres = states.map((state) => centreOf(places[state]))
  return {
    width: Math.max(...centres.map(({ x }) => x)) + BOX.width / 2 + MARGIN,
    height: Math.max(...centres.map(({ y }) => y)) + BOX.height / 2 + MARGIN,
    boxes: states.map((state) => {
      const centre = centreOf(places[state])
      return {
        state,
        ...BOX,
        x: centre.x - BOX.width / 2,
        y: centre.y - BOX.height / 2,
        /** Position of its name, centred. */
        text: { x: centre.x, y: centre.y + 5 },
        /** A final state. */
        isLast: table[state].next.length === 0,
      }
    }),
    arrows: states.flatMap((from) =>
      table[from].next.map((to) => ({ from, to, path: arrow(centreOf(places[from]), centreOf(places[to])) })),
    ),
  }
}

const ORDER_PLACES: Places<OrderState> = {
  creating: [1, 0],
  create_unknown: [0, 0.5],
  create_failed: [2, 0.5],
  created: [1, 1.25],
  paying: [1, 2.5],
  pay_unknown: [0, 2.5],
  pay_failed: [2, 2.5],
  closing: [3, 1.25],
  closed: [3, 2.5],
  paid: [1, 4],
  consumed: [0, 4],
  refunded: [2, 4],
}

const REFUND_PLACES: Places<RefundState> = {
  requested: [0, 0],
  asking: [1, 0],
  unknown: [2, 0],
  reviewing: [2, 1.25],
  refunded: [1, 2.25],
  refused: [0, 1.25],
}

type Table<State extends string> = Readonly<Record<State, { readonly means: string; readonly next: readonly State[] }>>

function stateMachineOf<State extends string>(
  name: 'order' | 'refund',
  table: Table<State>,
  places: Places<State>,
  locale: Locale,
) {
  const states = (Object.keys(table) as State[]).map((state) => {
    const { means, next } = table[state]
    return { state, means: translated(means, locale), next }
  })
  return { name, diagram: diagramOf(table, places), states }
}

/** The state machines of orders and refunds, as diagram and table, from the tables that the platform itself uses. */
export const stateMachinesOf = (locale: Locale) => [
  stateMachineOf<OrderState>('order', ORDER_STATES, ORDER_PLACES, locale),
  stateMachineOf<RefundState>('refund', REFUND_STATES, REFUND_PLACES, locale),
]
