/**
 * `text` with the character at `at` changed; negative values count from the end. Decoded as base64url, the result differs
 * too: the two characters never differ only in the lowest bits, which decoders ignore in the last character.
 */
export function altered(text: string, at = -1): string {
  const index = at < 0 ? text.length + at : at
  return text.slice(0, index) + (/[A-Za-f]/.test(text.charAt(index)) ? 'w' : 'A') + text.slice(index + 1)
}
