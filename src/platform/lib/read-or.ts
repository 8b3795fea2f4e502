/** What `read` returns, or `otherwise` where it throws: a text from outside may have another form. */
export function readOr<Read, Otherwise>(read: () => Read, otherwise: Otherwise): Read | Otherwise {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Undefined for what is no JSON. */
export const jsonOf = (text: string): unknown => readOr(() => JSON.parse(text), undefined)
