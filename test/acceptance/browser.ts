import type { Form } from './form.ts'
import { type Answer, header, type Wire } from './http.ts'

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** A browser with cookies and forms, but no scripts or pictures. Follows redirects only within the service. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #wire: Wire
  readonly #home: string

  constructor(wire: Wire, home: string) {
    this.#wire = wire
    this.#home = home
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Sends one request without following redirects. */
  async send(method: string, path: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
    const answer = await this.#wire({
      method,
      path,
      headers: {
        accept: HTML,
        'accept-language': 'en',
        ...(this.cookies.size > 0 ? { cookie: this.cookieHeader } : {}),
        // The headers that browsers send with a form of the service's own pages.
        ...(form
          ? { origin: this.#home, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
          : {}),
      },
      body: form ? new URLSearchParams(form).toString() : undefined,
    })
    this.#keepCookies(answer)
    return answer
  }

  #keepCookies(answer: Answer): void {
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = '', ...options] = line.split(';').map((part) => part.trim())
      const name = pair.slice(0, pair.indexOf('='))
      const gone = options.some((option) => /^(max-age=0|expires=.*1970.*)$/i.test(option))
      if (gone) this.cookies.delete(name)
      else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1))
    }
  }

  /** Path and query of a redirect within the service; undefined for any other. */
  #within(answer: Answer): string | undefined {
    const target = new URL(header(answer, 'location'), this.#home)
    return target.origin === this.#home ? target.pathname + target.search : undefined
  }

  async follow(first: Answer): Promise<Answer> {
    let answer = first
    for (let hops = 0; hops < 10 && answer.status >= 300 && answer.status < 400; hops++) {
      const path = this.#within(answer)
      if (path === undefined) return answer
      answer = await this.send('GET', path)
    }
    return answer
  }

  async open(path: string): Promise<Answer> {
    return this.follow(await this.send('GET', path))
  }

  /** Submits a form with what was typed or pressed, without following redirects. */
  async submit(form: Form, typed: Readonly<Record<string, string>>): Promise<Answer> {
    const target = new URL(form.action, this.#home)
    return this.send(form.method, target.pathname + target.search, { ...form.fields, ...typed })
  }
}
