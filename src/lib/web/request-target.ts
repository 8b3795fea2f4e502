/** The path of a request target as sent. An absolute target (a proxy's form) loses scheme and host, never a prefix. */
export const pathAsSent = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/\?.*$/s, '') || '/'

/** Percent-decoded; as it is if it cannot be decoded. */
export const decodedPath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
