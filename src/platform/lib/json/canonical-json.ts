import canonicalize from 'canonicalize'

/** The one text that this object has (RFC 8785). Throws for what JSON cannot say, such as NaN. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not JSON')
  return text
}
