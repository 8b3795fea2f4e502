import { mountsOf } from '../../platform/config/mounts.ts'
import type { Deps } from '../../platform/deps.ts'
import { formatHttpDate, parseHttpDate } from '../../platform/lib/crypto/signing.ts'
import type { Locale } from '../../platform/lib/web/locale.ts'
import { hasPassedSignatureTool, listSignatureTests, type SignatureTest } from '../../ticketing/mws/index.ts'
import { ENDPOINTS, PATH } from '../../ticketing/mws-wire/index.ts'
import type { SignedInPartner } from './session.ts'
import { snippetsFor } from './snippets.ts'
import { explainMistake } from './texts.ts'

/** Visible characters, or one invisible character shown as a sign. */
interface Segment {
  readonly text: string
  /** What the sign stands for; undefined for visible characters. */
  readonly sign?: 'space' | 'line-feed' | 'carriage-return' | 'tab' | 'end' | 'other'
  /** The sign in letters, because many fonts lack the symbol. */
  readonly label?: string
  /** Where two texts begin to differ. */
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
// Control and format characters, and non-ASCII spaces: invisible, or easily taken for a plain space.
const INVISIBLE = /[\p{C}\p{Z}]/u

function segmentOf(character: string): Segment {
  const known = SIGNS[character]
  if (known) return { text: known[1], sign: known[0], label: known[2] }
  if (!INVISIBLE.test(character)) return { text: character }
  const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  return { text: code, sign: 'other', label: code }
}

/** Shows whitespace as signs and marks the character at `differsAt` (in code points). */
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

interface TextDifference {
  /** In code points from 0, for `segmentsOf`. */
  readonly at: number
  /** Position in UTF-8 bytes, from 1. */
  readonly byte: number
  /** The character in each text with its bytes, such as `LF (0A)`; empty if the text has ended. */
  readonly expected: string
  readonly signed: string
}

const twoDigits = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0')
function withBytes(character: string | undefined): string {
  if (character === undefined) return ''
  const { label, text } = segmentOf(character)
  return `${label ?? text} (${[...Buffer.from(character)].map(twoDigits).join(' ')})`
}

/** Null if the texts are equal. */
export function firstDifference(expected: string, signed: string): TextDifference | null {
  if (expected === signed) return null
  const [left, right] = [[...expected], [...signed]]
  let at = 0
  while (left[at] === right[at]) at++
  const byte = Buffer.byteLength(left.slice(0, at).join('')) + 1
  return { at, byte, expected: withBytes(left[at]), signed: withBytes(right[at]) }
}

const SHOWN = 10

/** The contents of the signature tool's page, with the requested verdict or the newest. */
export async function showSignatureTool(
  deps: Deps,
  { partnerId, clientId }: SignedInPartner,
  testId: string | undefined,
  locale: Locale,
) {
  const [passed, tests] = await Promise.all([
    hasPassedSignatureTool(deps, partnerId),
    listSignatureTests(deps, partnerId),
  ])
  const addresses = addressesOf(deps)
  const [url = ''] = addresses
  const chosen = tests.find(({ test_id }) => String(test_id) === testId) ?? tests[0]
  return {
    passed,
    /** Where test calls can be sent, one URL per prefix. */
    addresses,
    paths: Object.values(ENDPOINTS),
    tests: tests.slice(0, SHOWN),
    verdict: chosen ? verdictOf(chosen, locale) : null,
    snippets: snippetsFor({ url, path: new URL(url).pathname, clientId, partnerId: String(partnerId) }),
  }
}

const addressesOf = ({ config }: Deps): string[] =>
  mountsOf(config.MTP_PATH_PREFIXES).map((mount) => config.PARTNER_URL + mount + PATH.signatureTest)

const explained = (names: readonly string[], locale: Locale) =>
  names.map((name) => ({ name, text: explainMistake(locale, name) }))

export type SignatureVerdict = ReturnType<typeof verdictOf>

function verdictOf(test: SignatureTest, locale: Locale) {
  const { string_to_sign, signed_instead, tested_at } = test
  const parsed = parseHttpDate(test.date_header)
  const difference = signed_instead === null ? null : firstDifference(string_to_sign, signed_instead)
  return {
    ...test,
    explanations: explained(test.mistakes, locale),
    /** Problems that a notice signed like this would also be refused for, or accepted with. */
    warnings: explained(test.warnings, locale),
    /** Our clock when the call arrived, as a Date header. */
    clock: formatHttpDate(tested_at),
    /** Seconds by which Date is ahead of our clock (negative: behind); null if it is not a date. */
    aheadS: 'problem' in parsed ? null : Math.round((parsed.getTime() - tested_at.getTime()) / 1000),
    expected: segmentsOf(string_to_sign, difference?.at),
    signed: signed_instead === null ? null : segmentsOf(signed_instead, difference?.at),
    difference,
  }
}
