import { addSeconds, DAY_S, HOUR_S } from '../clock.ts'

/** The colour of a part; failures are at the bottom. */
type Kind = 'failed' | 'refused' | 'all'

const WIDTH = 240
const HEIGHT = 80
/** The height of the smallest count above zero, so that it is visible. */
const MIN_HEIGHT = 2
/** The space between bars, as a fraction of the width per bar. */
const GAP = 0.2

export interface ChartInput {
  readonly id: string
  readonly title: string
  /** The chart's content in words and numbers. */
  readonly summary: string
  /** The meaning of the colours, in the order of the parts from the top; empty if bars have one part. */
  readonly legend: readonly { readonly kind: Kind; readonly text: string }[]
  readonly since: Date
  readonly spanS: number
  readonly spans: readonly { readonly all: number; readonly refused?: number; readonly failed: number }[]
  /** The highest bar, in words. */
  readonly mostOf: (most: number) => string
}

const agoOf = (seconds: number, spanS: number): string =>
  spanS >= HOUR_S ? `${seconds / HOUR_S} h` : `${seconds / 60} min`

/**
 * A bar chart over time for views/chart.eta, which draws it as SVG: bars in units of its view box, their parts from the
 * top; `from` and `to` in ISO 8601, for a chart of days its first and last day (UTC).
 */
export function chartOf({ since, spanS, spans, mostOf, ...labels }: ChartInput) {
  const most = Math.max(1, ...spans.map(({ all }) => all))
  const pitch = WIDTH / spans.length
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(MIN_HEIGHT, Math.round((count / most) * HEIGHT)))
  const isOfDays = spanS === DAY_S
  const dayOf = (place: number): string =>
    addSeconds(since, place * DAY_S)
      .toISOString()
      .slice(0, 10)
  const bars = spans.map(({ all, refused = 0, failed }, place) => {
    const [ofFailed, ofRefused] = [heightOf(failed), heightOf(refused)]
    const ofAll = Math.max(0, heightOf(all) - ofFailed - ofRefused)
    const foot = HEIGHT - ofFailed
    const numbers = labels.legend.length === 0 ? [all] : refused > 0 ? [all, refused, failed] : [all, failed]
    const parts: { kind: Kind; y: number; height: number }[] = [
      { kind: 'all', y: foot - ofRefused - ofAll, height: ofAll },
      { kind: 'refused', y: foot - ofRefused, height: ofRefused },
      { kind: 'failed', y: foot, height: ofFailed },
    ]
    return {
      x: (place + GAP / 2) * pitch,
      width: (1 - GAP) * pitch,
      label: `${isOfDays ? dayOf(place) : `−${agoOf((spans.length - place) * spanS, spanS)}`}: ${numbers.join(' / ')}`,
      parts: parts.filter(({ height }) => height > 0),
    }
  })
  const end = addSeconds(since, spans.length * spanS)
  const ends = isOfDays
    ? { from: dayOf(0), to: dayOf(spans.length - 1) }
    : { from: since.toISOString(), to: end.toISOString() }
  return { ...labels, ...ends, isOfDays, most: mostOf(most), width: WIDTH, height: HEIGHT, bars }
}
export type Chart = ReturnType<typeof chartOf>
