import canonicalize from 'canonicalize'

/** The canonical text of an object (RFC 8785). Throws for what JSON cannot express, such as NaN. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not JSON')
  return text
}
