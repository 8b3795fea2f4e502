/**
 * The values of a header, one for each time that it was sent: Node keeps only the first of some and joins those of
 * others. `rawHeaders` alternates names and values.
 */
export function valuesSent(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}
