/** The result of `read`, or `otherwise` if it throws: for texts from outside that may be malformed. */
export function readOr<Read, Otherwise>(read: () => Read, otherwise: Otherwise): Read | Otherwise {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Undefined if the text is not JSON. */
export const jsonOf = (text: string): unknown => readOr(() => JSON.parse(text), undefined)
