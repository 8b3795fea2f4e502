/** How often a header was sent, for headers of which Node keeps only the first. `rawHeaders` alternates names and values. */
export function timesSent(rawHeaders: readonly string[], name: string): number {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]
    if (sent?.length === name.length && sent.toLowerCase() === name) times++
  }
  return times
}
