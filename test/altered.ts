/**
 * `text` with the character at `at` changed; negative values count from the end. Decoded as base64url, the result always
 * differs too: the old and the new character differ in their highest bit, and decoders drop only the lowest bits.
 */
export function altered(text: string, at = -1): string {
  const index = at < 0 ? text.length + at : at
  return text.slice(0, index) + (/[A-Za-f]/.test(text.charAt(index)) ? 'w' : 'A') + text.slice(index + 1)
}
