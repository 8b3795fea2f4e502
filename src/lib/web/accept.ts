interface Weighted {
  readonly value: string
  readonly weight: number
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Of these headers no more is read: browsers send some hundred characters. What is cut through is left out. */
const READ_CHARACTERS = 1_024
const READ_VALUES = 32

function beginningOf(header: string): string {
  if (header.length <= READ_CHARACTERS) return header
  return header.slice(0, Math.max(0, header.lastIndexOf(',', READ_CHARACTERS)))
}

/** The values of an Accept or Accept-Language header, lower-cased, most wanted first; refused ones (`q=0`) left out. */
export function parseWeighted(header: string | undefined): string[] {
  const parsed = beginningOf(header ?? '')
    .split(',', READ_VALUES)
    .map((item): Weighted => {
      const [value = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.map((parameter) => WEIGHT.exec(parameter)?.[1]).find((found) => found !== undefined)
      return { value, weight: Number(weight ?? 1) }
    })
  return parsed
    .filter(({ value, weight }) => value !== '' && weight > 0)
    .sort((left, right) => right.weight - left.weight)
    .map(({ value }) => value)
}

const PAGE = new Set(['text/html', 'application/xhtml+xml', 'text/*'])
const JSON_LIKE = new Set(['application/json', 'application/*', '*/*'])

/** Whether the caller is a browser that wants a page; `*` + `/*` (curl, most HTTP clients) gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  const first = parseWeighted(accept).find((type) => PAGE.has(type) || JSON_LIKE.has(type))
  return first !== undefined && PAGE.has(first)
}
