/**
 * Names and passwords that look the same are the same, whichever keyboard or system they were typed on: the normal forms of
 * RFC 8264 and RFC 8265 (PRECIS). Case counts. A name is kept as it was typed, to be shown, and compared in its normal form.
 */

/** Fullwidth and halfwidth forms, and U+3000. */
const WIDE_OR_NARROW = /[\u3000\uff01-\uff9f\uffa1-\uffee]/g
/** Halfwidth Hangul: what comes first, what it stands for, how many. NFKC would go on to conjoining letters. */
const HANGUL = [
  [0xffa1, 0x3131, 30],
  [0xffc2, 0x314f, 6],
  [0xffca, 0x3155, 6],
  [0xffd2, 0x315b, 6],
  [0xffda, 0x3161, 3],
] as const
const FULLWIDTH_MACRON = '\uffe3'

/** What a fullwidth or halfwidth character is a form of: its decomposition mapping (RFC 8265 §3.3.2). */
function unwidened(character: string): string {
  if (character === FULLWIDTH_MACRON) return '\u00af' // which NFKC would take apart too
  const code = character.charCodeAt(0)
  for (const [first, stands, count] of HANGUL) {
    if (code >= first && code < first + count) return String.fromCharCode(stands + code - first)
  }
  return character.normalize('NFKC')
}

const SPACES = /\p{Zs}+/gu
const SPACE = /\p{Zs}/gu

/**
 * The form in which passports, clientIds and names of operators and members are compared: UsernameCasePreserved, that is
 * without forms of width and in NFC. Ours may have spaces: one stands for any number of any kind, as pages show them.
 */
export const normalName = (text: string): string =>
  text.replace(WIDE_OR_NARROW, unwidened).replace(SPACES, ' ').normalize('NFC')

/** The form in which passwords are hashed: OpaqueString, that is with ASCII spaces and in NFC. */
export const normalPassword = (text: string): string => text.replace(SPACE, ' ').normalize('NFC')

/** Characters that nobody sees, zero-width spaces and joiners among them: two names could look alike, or empty. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text)

/** Joiners and the selectors of emoji, where they change what is seen: in Persian and Indic words, and between emoji. */
const JOINED =
  /(?<=[\p{M}\p{Script=Arabic}\p{Extended_Pictographic}\p{Emoji_Modifier}])(?:[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}])|[\ufe0e\ufe0f])/gu
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u
/** Braille without a dot. */
const EMPTY_SYMBOL = '\u2800'

/** Whether people see all of a name that a stranger has chosen: another one with the same look would pass for it. */
export const isSeen = (text: string): boolean =>
  SEEN.test(text) && !text.includes(EMPTY_SYMBOL) && !hasInvisible(text.replace(JOINED, ''))

/**
 * What no password may hold (FreeformClass): control characters, halves of surrogate pairs, noncharacters and what nobody
 * sees. The joiners of Persian and Indic words, and of emoji, are typed on purpose.
 */
const NOT_IN_PASSWORDS =
  /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/u
export const isTypablePassword = (text: string): boolean => !NOT_IN_PASSWORDS.test(text)
