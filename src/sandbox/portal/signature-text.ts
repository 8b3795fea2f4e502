/** Characters that are shown as they are, or one that is invisible and shown as a sign. */
export interface Segment {
  readonly text: string
  /** What the sign stands for; undefined for a plain run. */
  readonly sign?: 'space' | 'line-feed' | 'carriage-return' | 'tab' | 'end' | 'other'
  /** The sign in letters, for the many fonts that have no picture of it. */
  readonly label?: string
  /** The place where two texts begin to differ. */
  readonly differs?: true
}

type Sign = NonNullable<Segment['sign']>

const SIGNS: Readonly<Record<string, readonly [sign: Sign, text: string, label: string]>> = {
  ' ': ['space', '␠', 'SP'],
  '\n': ['line-feed', '␊', 'LF'],
  '\r': ['carriage-return', '␍', 'CR'],
  '\t': ['tab', '␉', 'TAB'],
}
const END: Segment = { text: '␃', sign: 'end', label: 'END', differs: true }
// Control and format characters and spaces beyond ASCII, which are invisible or look like a plain space.
const UNSEEN = /[\p{C}\p{Z}]/u

function segmentOf(character: string): Segment {
  const known = SIGNS[character]
  if (known) return { text: known[1], sign: known[0], label: known[2] }
  if (!UNSEEN.test(character)) return { text: character }
  const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  return { text: code, sign: 'other', label: code }
}

/** The text with a sign for each whitespace; the character at `differsAt` (counted in code points) is marked. */
export function segmentsOf(text: string, differsAt?: number): Segment[] {
  const segments: Segment[] = []
  const characters = [...text]
  for (const [index, character] of characters.entries()) {
    const segment = segmentOf(character)
    const last = segments.at(-1)
    if (index === differsAt) segments.push({ ...segment, differs: true })
    else if (segment.sign || !last || last.sign || last.differs) segments.push(segment)
    else segments[segments.length - 1] = { text: last.text + segment.text }
  }
  return differsAt === characters.length ? [...segments, END] : segments
}

export interface TextDifference {
  /** Counted in characters from 0, for `segmentsOf`. */
  readonly at: number
  /** Position in the UTF-8 bytes, from 1. */
  readonly byte: number
  /** What is there in each text and its bytes: `LF (0A)`; empty where the text has ended. */
  readonly expected: string
  readonly signed: string
}

const twoDigits = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0')
function withBytes(character: string | undefined): string {
  if (character === undefined) return ''
  const { label, text } = segmentOf(character)
  return `${label ?? text} (${[...Buffer.from(character)].map(twoDigits).join(' ')})`
}

/** Where two texts begin to differ; null for equal ones. */
export function firstDifference(expected: string, signed: string): TextDifference | null {
  if (expected === signed) return null
  const [left, right] = [[...expected], [...signed]]
  let at = 0
  while (left[at] === right[at]) at++
  const byte = Buffer.byteLength(left.slice(0, at).join('')) + 1
  return { at, byte, expected: withBytes(left[at]), signed: withBytes(right[at]) }
}
