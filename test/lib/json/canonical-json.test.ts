import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/platform/lib/json/canonical-json.ts'

describe('canonical JSON', () => {
  it('matches the example of RFC 8785, section 3.2.2', () => {
    const input = JSON.parse(
      String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    )
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts names by UTF-16 code units, as in section 3.2.3', () => {
    const input = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 }
    expect(Object.values(JSON.parse(canonicalJson({ a: [input] })).a[0])).toHaveLength(7)
    expect(canonicalJson(input)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })
})
