import { addSeconds, DAY_S } from '../clock.ts'

/** A bar chart over time, drawn as SVG on the server. */
export interface Chart {
  /** Id of its heading. */
  readonly id: string
  readonly title: string
  /** The chart's content in words and numbers. */
  readonly summary: string
  readonly width: number
  readonly height: number
  /** The meaning of the colours, in the order of the parts from the top; empty if bars have one part. */
  readonly legend: readonly { readonly kind: Kind; readonly text: string }[]
  /** The highest bar, in words. */
  readonly most: string
  readonly bars: readonly Bar[]
  /** ISO 8601; for a chart of days its first and last day (UTC). */
  readonly from: string
  readonly to: string
  readonly isOfDays: boolean
}

/** In units of the view box. */
interface Bar {
  readonly x: number
  readonly width: number
  readonly label: string
  /** From the bottom up. */
  readonly parts: readonly { readonly kind: Kind; readonly y: number; readonly height: number }[]
}

/** The colour of a part; failures are at the bottom. */
type Kind = 'failed' | 'refused' | 'all'

/** Counts of one span of time. */
interface Span {
  readonly all: number
  readonly refused?: number
  readonly failed: number
}

const WIDTH = 240
const HEIGHT = 80
/** The height of the smallest count above zero, so that it is visible. */
const MIN_HEIGHT = 2
/** The space between bars, as a fraction of the width per bar. */
const GAP = 0.2

export interface ChartInput {
  readonly id: string
  readonly title: string
  readonly summary: string
  readonly legend: Chart['legend']
  readonly since: Date
  readonly spanS: number
  readonly spans: readonly Span[]
  readonly mostOf: (most: number) => string
}

const agoOf = (seconds: number, spanS: number): string => {
  const [unit, size] = spanS >= 3_600 ? ['h', 3_600] : ['min', 60]
  return `${seconds / Number(size)} ${unit}`
}

export function chartOf({ since, spanS, spans, mostOf, ...labels }: ChartInput): Chart {
  const most = Math.max(1, ...spans.map(({ all }) => all))
  const pitch = WIDTH / spans.length
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(MIN_HEIGHT, Math.round((count / most) * HEIGHT)))
  const isOfDays = spanS === DAY_S
  const dayOf = (place: number): string =>
    addSeconds(since, place * DAY_S)
      .toISOString()
      .slice(0, 10)
  const bars = spans.map(({ all, refused = 0, failed }, place): Bar => {
    const [ofFailed, ofRefused] = [heightOf(failed), heightOf(refused)]
    const ofAll = Math.max(0, heightOf(all) - ofFailed - ofRefused)
    const foot = HEIGHT - ofFailed
    const numbers = labels.legend.length === 0 ? [all] : refused > 0 ? [all, refused, failed] : [all, failed]
    return {
      x: (place + GAP / 2) * pitch,
      width: (1 - GAP) * pitch,
      label: `${isOfDays ? dayOf(place) : `−${agoOf((spans.length - place) * spanS, spanS)}`}: ${numbers.join(' / ')}`,
      parts: [
        { kind: 'all' as const, y: foot - ofRefused - ofAll, height: ofAll },
        { kind: 'refused' as const, y: foot - ofRefused, height: ofRefused },
        { kind: 'failed' as const, y: foot, height: ofFailed },
      ].filter(({ height }) => height > 0),
    }
  })
  const end = addSeconds(since, spans.length * spanS)
  const ends = isOfDays
    ? { from: dayOf(0), to: dayOf(spans.length - 1) }
    : { from: since.toISOString(), to: end.toISOString() }
  return { ...labels, ...ends, isOfDays, most: mostOf(most), width: WIDTH, height: HEIGHT, bars }
}
