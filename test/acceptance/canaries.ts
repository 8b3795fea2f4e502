import { randomBytes } from 'node:crypto'

/** Plants texts and searches the output of a process for them, in every encoding in which they could appear. */

const CASE = 'cnry'

export class Canaries {
  /** The prefix of all planted texts, so that a truncated one is found as well. */
  readonly mark = `${CASE}${randomBytes(10).toString('hex')}`
  readonly places: string[] = []
  readonly #secrets = new Map<string, string>()
  readonly #numbers = new Map<string, string>()

  /** A text to plant; `place` says where, for the report. */
  plant(place: string): string {
    this.places.push(place)
    return `${this.mark}x${this.places.length}x`
  }

  /** Registers a real secret that must not be found either. */
  guard(name: string, secret: string): string {
    this.#secrets.set(secret, name)
    return secret
  }

  /** Registers a short number, which is searched for only as a whole word because longer numbers may contain it. */
  guardNumber(name: string, number: string): string {
    this.#numbers.set(number, name)
    return number
  }

  get guarded(): string[] {
    return [...new Set([...this.#secrets.values(), ...this.#numbers.values()])]
  }

  /** Describes each find: the place or the secret's name, the encoding, and the surrounding text. */
  search(output: string): string[] {
    const found: string[] = []
    const report = (name: string, form: string, text: string, at: number): void => {
      if (at >= 0) found.push(`${name} (${form}): …${output.slice(Math.max(0, at - 120), at + text.length + 40)}…`)
    }
    const look = (name: string, form: string, text: string) => report(name, form, text, output.indexOf(text))
    for (const [form, text] of formsOf(this.mark)) {
      const at = output.indexOf(text)
      const serial = Number(/x(\d+)x/.exec(output.slice(at, at + 60))?.[1])
      look(this.places[serial - 1] ?? 'a planted text', form, text)
    }
    for (const [secret, name] of this.#secrets) {
      for (const part of partsOf(secret)) for (const [form, text] of formsOf(part)) look(name, form, text)
    }
    for (const [number, name] of this.#numbers) {
      report(name, 'raw', number, output.search(new RegExp(`(?<![\\w.-])${number}(?![\\w-]|\\.\\d)`)))
    }
    return found
  }
}

/** A long secret is also searched for in pieces, because a log might hold only its first or last characters. */
const partsOf = (secret: string): string[] =>
  secret.length < 40 ? [secret] : [secret, secret.slice(16, 32), secret.slice(-16)]

/** A text as a log may show it: plain, as part of a URL, in Base64 or in hex. */
export function formsOf(text: string): [form: string, text: string][] {
  const bytes = Buffer.from(text)
  const forms: [string, string][] = [
    ['raw', text],
    ['url-encoded', encodeURIComponent(text)],
    ['url-encoded twice', encodeURIComponent(encodeURIComponent(text))],
    ['json', JSON.stringify(text).slice(1, -1)],
    ['hex', bytes.toString('hex')],
    ['bytes', [...bytes].join(',')],
    ['bytes spaced', [...bytes].map((byte) => byte.toString(16)).join(' ')],
  ]
  // Inside a longer text, the Base64 of this one depends on its offset, and its ends mix with the surrounding bytes.
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const core = encoded.slice(offset === 0 ? 0 : 4, encoded.length - 4)
    forms.push([`base64 at ${offset}`, core], [`base64url at ${offset}`, core.replace(/\+/g, '-').replace(/\//g, '_')])
  }
  const seen = new Set<string>()
  return forms.filter(([, form]) => form.length >= 8 && !seen.has(form) && seen.add(form))
}
