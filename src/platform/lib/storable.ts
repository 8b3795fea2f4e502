/** PostgreSQL refuses U+0000 in any text, and lone surrogates in JSON. */
const UNSTORABLE = /[\0\p{Surrogate}]/u

export const isStorable = (text: string): boolean => !UNSTORABLE.test(text)

export const storableText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')

/** Escapes that jsonb refuses. It also matches an escaped backslash before the same letters, which does no harm. */
const REFUSED_ESCAPE = /\\u(?:0000|d[89a-f])/

/** JSON for a jsonb column. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return REFUSED_ESCAPE.test(json)
    ? JSON.stringify(value, (_, given) => (typeof given === 'string' ? storableText(given) : given))
    : json
}

/** The first `most` UTF-16 units of a text, one fewer where that would split a character. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
