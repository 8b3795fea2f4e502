import { prettyJson } from '../../../platform/lib/json/lossless.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import { whyNotKept } from '../../../platform/lib/web/body-placeholder.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { MessageName } from '../docs/reference.ts'
import { localizedText } from '../texts.ts'

export interface ShownText {
  readonly text: string
  /** The full length, if the text was cut. */
  readonly cutFrom?: number
  /** It was encrypted on the wire. */
  readonly encrypted?: boolean
  /** It is not shown, because it is not JSON. */
  readonly unreadable?: boolean
  /** Why it was not kept, for a page. */
  readonly notKept?: string
}

/** Formats a body; `message` decides what is masked. */
export type TextOf = (text: string, encrypted: boolean | undefined, message: MessageName) => ShownText

/** Characters of a body that are shown: more would slow browsers down. */
const MAX_SHOWN = 65_536
const MAX_INDENTED = 4 * MAX_SHOWN

/** A body as received, for programs. Long ones are cut. */
export const keptText = (text: string, encrypted = false): ShownText => ({
  text: cutTo(text, MAX_SHOWN),
  ...(text.length > MAX_SHOWN ? { cutFrom: text.length } : {}),
  ...(encrypted ? { encrypted } : {}),
})

/** Indents JSON, keeping numbers as written; other bodies are shown as received. Long ones are cut. */
export function shownText(text: string, encrypted = false): ShownText {
  const mark = encrypted ? { encrypted } : {}
  if (text.length > MAX_SHOWN) return { text: cutTo(text, MAX_SHOWN), cutFrom: text.length, ...mark }
  const pretty = prettyJson(text)
  return { text: pretty === undefined || pretty.length > MAX_INDENTED ? text : pretty, ...mark }
}

/** For a page: `shownText`, or why there is none. */
export const shownIn =
  (t: Translate): TextOf =>
  (text, encrypted) => {
    const why = whyNotKept(text)
    return why ? { text: '', notKept: localizedText(why, t) } : shownText(text, encrypted)
  }
