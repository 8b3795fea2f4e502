/** What a text may hold to be stored. PostgreSQL refuses U+0000 in any text, and halves of surrogate pairs in JSON. */
const UNSTORABLE = /[\0\p{Surrogate}]/u

export const isStorable = (text: string): boolean => !UNSTORABLE.test(text)

export const storableText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')

/** How JSON writes what jsonb refuses; a backslash of a text that is followed by the same letters is taken for it too. */
const REFUSED_ESCAPE = /\\u(?:0000|d[89a-f])/

/** JSON for a column of jsonb. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return REFUSED_ESCAPE.test(json)
    ? JSON.stringify(value, (_, given) => (typeof given === 'string' ? storableText(given) : given))
    : json
}

/** The first `most` UTF-16 units of a text, one fewer where a character would be halved. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
