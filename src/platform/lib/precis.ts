/**
 * Normal forms of names and passwords after RFC 8264 and RFC 8265 (PRECIS), so that those that look the same are the same.
 * Case counts. Names are displayed as typed.
 */

/** Fullwidth and halfwidth forms, and U+3000. */
const WIDE_OR_NARROW = /[\u3000\uff01-\uff9f\uffa1-\uffee]/g
/** Halfwidth Hangul: first code, code of the regular form, count. NFKC would turn them into conjoining letters. */
const HANGUL = [
  [0xffa1, 0x3131, 30],
  [0xffc2, 0x314f, 6],
  [0xffca, 0x3155, 6],
  [0xffd2, 0x315b, 6],
  [0xffda, 0x3161, 3],
] as const
const FULLWIDTH_MACRON = '\uffe3'

/** The regular form of a fullwidth or halfwidth character: its decomposition mapping (RFC 8265 §3.3.2). */
function withoutWidth(character: string): string {
  if (character === FULLWIDTH_MACRON) return '\u00af' // NFKC would decompose that too
  const code = character.charCodeAt(0)
  for (const [first, regular, count] of HANGUL) {
    if (code >= first && code < first + count) return String.fromCharCode(regular + code - first)
  }
  return character.normalize('NFKC')
}

const SPACES = /\p{Zs}+/gu
const SPACE = /\p{Zs}/gu

/**
 * The form in which passports, clientIds and names of operators and members are compared: UsernameCasePreserved, that
 * is without width variants and in NFC. Ours may have spaces: a run of any kind becomes one, as pages show it.
 */
export const normalName = (text: string): string =>
  text.replace(WIDE_OR_NARROW, withoutWidth).replace(SPACES, ' ').normalize('NFC')

/** The form in which passwords are hashed: OpaqueString, that is with ASCII spaces and in NFC. */
export const normalPassword = (text: string): string => text.replace(SPACE, ' ').normalize('NFC')

/** Invisible characters, such as zero-width spaces and joiners: with them two names could look alike, or empty. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text)

/** Arabic letters that join with the preceding one. */
const JOINING = String.raw`[[\p{Script=Arabic}&&\p{L}]--[\u0621\u0674\ufb50-\ufdff\ufe70-\ufefc]]`
/** Arabic letters that never join with the following one: Joining_Type R, which JavaScript's regular expressions lack. */
const ENDING = [
  String.raw`\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0`,
  String.raw`\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0759-\u075b\u076b\u076c\u0771\u0773`,
  String.raw`\u0774\u0778\u0779\u0870-\u0882\u088e\u08aa-\u08ac\u08ae\u08b1\u08b2\u08b9`,
].join('')
const VIRAMA = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]`
const PICTURE = String.raw`\p{Extended_Pictographic}`
/** The flags of England, Scotland and Wales in tag characters; no others are displayed. */
const FLAG =
  String.raw`(?<=\u{1f3f4})\u{e0067}\u{e0062}` +
  String.raw`(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`

/** Joiners and selectors where they have a visible effect (RFC 5892 Appendix A, plus what emoji and Han need). */
const JOINED = new RegExp(
  [
    String.raw`(?<=(?![${ENDING}])${JOINING}\p{Mn}*)\u200c(?=${JOINING})`,
    String.raw`(?<=${VIRAMA})[\u200c\u200d](?=\p{L})`,
    String.raw`(?<=\p{L})\u200d(?=${VIRAMA})`,
    String.raw`(?<=\u0d4d)\u200d`, // Malayalam, at the end of a word too
    String.raw`(?<=[${PICTURE}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=${PICTURE})`,
    String.raw`(?<=${PICTURE})[\ufe0e\ufe0f]`,
    String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
    String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
    String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180d\u180f]`,
    FLAG,
  ].join('|'),
  'gv',
)
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u
/** Braille without a dot. */
const EMPTY_SYMBOL = '\u2800'

/** Whether all of a name is visible; a stranger could otherwise choose one that looks like another. */
export const isSeen = (text: string): boolean =>
  SEEN.test(text) && !text.includes(EMPTY_SYMBOL) && !hasInvisible(text.replace(JOINED, ''))

/**
 * What no password may hold (FreeformClass): control characters, lone surrogates, noncharacters and invisible
 * characters. Joiners in Persian and Indic words and in emoji are typed on purpose.
 */
const NOT_IN_PASSWORDS =
  /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/u
export const isTypablePassword = (text: string): boolean => !NOT_IN_PASSWORDS.test(text)
