/** A diagram of states as an SVG: boxes on a grid, and an arrow for each move. Lengths are units of the SVG's view box. */

const BOX = { width: 132, height: 40 }
const CELL = { width: 200, height: 104 }
const MARGIN = 24
/** How far an arrow bends to its side, so that the two arrows of a pair do not cover each other. */
const BEND = 16
const HEAD = 5

interface Point {
  readonly x: number
  readonly y: number
}

/** Column and row of each state, from 0; halves are allowed. */
export type Places<State extends string> = Readonly<Record<State, readonly [column: number, row: number]>>

export interface Diagram {
  readonly width: number
  readonly height: number
  readonly boxes: readonly {
    readonly state: string
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
    /** Where its name stands, centred. */
    readonly text: Point
    /** Nothing follows. */
    readonly isLast: boolean
  }[]
  /** `path` is the line, `head` the points of its tip. */
  readonly arrows: readonly {
    readonly from: string
    readonly to: string
    readonly path: string
    readonly head: string
  }[]
}

const centreOf = ([column, row]: readonly [number, number]): Point => ({
  x: MARGIN + BOX.width / 2 + column * CELL.width,
  y: MARGIN + BOX.height / 2 + row * CELL.height,
})

const rounded = (value: number): number => Math.round(value * 10) / 10

/** Where the line from the centre of a box towards a point leaves the box. */
function edgeOf(centre: Point, towards: Point): Point {
  const [dx, dy] = [towards.x - centre.x, towards.y - centre.y]
  const scale = Math.min(BOX.width / 2 / Math.abs(dx || 1e-9), BOX.height / 2 / Math.abs(dy || 1e-9))
  return { x: centre.x + dx * scale, y: centre.y + dy * scale }
}

function arrow(from: Point, to: Point): { path: string; head: string } {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = Math.hypot(dx, dy)
  const bend = BEND + length / 16
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend }
  const [start, tip] = [edgeOf(from, middle), edgeOf(to, middle)]
  const [ax, ay] = [tip.x - middle.x, tip.y - middle.y]
  const reach = Math.hypot(ax, ay)
  const [ux, uy] = [ax / reach, ay / reach]
  const base = { x: tip.x - ux * HEAD * 2, y: tip.y - uy * HEAD * 2 }
  const corners = [
    tip,
    { x: base.x - uy * HEAD, y: base.y + ux * HEAD },
    { x: base.x + uy * HEAD, y: base.y - ux * HEAD },
  ]
  const text = ({ x, y }: Point) => `${rounded(x)} ${rounded(y)}`
  return {
    path: `M${text(start)} Q${text(middle)} ${text(base)}`,
    head: corners.map(({ x, y }) => `${rounded(x)},${rounded(y)}`).join(' '),
  }
}

/** Draws a table of states (src/ticketing/orders/states.ts) at these places. */
export function diagramOf<State extends string>(
  table: Readonly<Record<State, { readonly next: readonly State[] }>>,
  places: Places<State>,
): Diagram {
  const states = Object.keys(table) as State[]
  const last = states.map((state) => centreOf(places[state]))
  return {
    width: Math.max(...last.map(({ x }) => x)) + BOX.width / 2 + MARGIN,
    height: Math.max(...last.map(({ y }) => y)) + BOX.height / 2 + MARGIN,
    boxes: states.map((state) => {
      const centre = centreOf(places[state])
      return {
        state,
        ...BOX,
        x: centre.x - BOX.width / 2,
        y: centre.y - BOX.height / 2,
        text: { x: centre.x, y: centre.y + 5 },
        isLast: table[state].next.length === 0,
      }
    }),
    arrows: states.flatMap((from) =>
      table[from].next.map((to) => ({ from, to, ...arrow(centreOf(places[from]), centreOf(places[to])) })),
    ),
  }
}
