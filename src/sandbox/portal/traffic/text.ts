import { prettyJson } from '../../../platform/lib/json/lossless.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import type { MessageName } from '../docs/reference.ts'

/** A body as a page shows it. */
export interface ShownText {
  readonly text: string
  /** How many characters there are, when not all of them are shown. */
  readonly cutFrom?: number
  /** It came over the wire encrypted. */
  readonly encrypted?: boolean
  /** It is not shown, because it is not JSON. */
  readonly unreadable?: boolean
}

/** A body as it is shown; what message it is decides what is masked. */
export type TextOf = (text: string, encrypted: boolean | undefined, message: MessageName) => ShownText

/** Characters of a body that are shown: browsers are slow with more. */
const SHOWN = 65_536
const MAX_INDENTED = 4 * SHOWN

/** A body as it came, for programs. Long ones are cut. */
export const keptText = (text: string, encrypted = false): ShownText => ({
  text: cutTo(text, SHOWN),
  ...(text.length > SHOWN ? { cutFrom: text.length } : {}),
  ...(encrypted ? { encrypted } : {}),
})

/** JSON is indented, with its numbers as they were written; other bodies are shown as they came. Long ones are cut. */
export function shownText(text: string, encrypted = false): ShownText {
  const mark = encrypted ? { encrypted } : {}
  if (text.length > SHOWN) return { text: cutTo(text, SHOWN), cutFrom: text.length, ...mark }
  const pretty = prettyJson(text)
  return { text: pretty === undefined || pretty.length > MAX_INDENTED ? text : pretty, ...mark }
}
