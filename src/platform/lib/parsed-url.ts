/**
 * The URL that a text is, against `base` where there is one; undefined for what is none. It stands for `URL.canParse`, which
 * under Node 20 and 22 takes `https://münchen.de` for no URL once it was called some thousand times.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
