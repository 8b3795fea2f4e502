/**
 * `text` with the character at `at` changed; from the end where negative. It is never the same text, nor the same bytes
 * of base64url: the two characters differ in their highest bit, which is read also where the last bits are not.
 */
export function altered(text: string, at = -1): string {
  const index = at < 0 ? text.length + at : at
  return text.slice(0, index) + (/[A-Za-f]/.test(text.charAt(index)) ? 'w' : 'A') + text.slice(index + 1)
}
