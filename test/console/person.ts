import { TOTP } from 'otpauth'
import { createOperator, setOperatorPassword } from '../../src/operations/operators/index.ts'
import type { Role } from '../../src/platform/lib/web/admin-auth.ts'
import { ADMIN_TOKEN, type World } from '../harness.ts'

/** A client for the console: like a browser, it keeps the cookie and submits forms. */

export const PASSWORD = 'a long enough password'
export const COOKIE = 'gatehouse_operator'

export const codeOf = (world: World, secret: string): string =>
  new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })

export interface Page {
  readonly status: number
  readonly text: string
  readonly location: string
  readonly headers: Readonly<Record<string, unknown>>
}

export class Person {
  readonly #world: World
  cookie = ''

  constructor(world: World, cookie = '') {
    this.#world = world
    this.cookie = cookie
  }

  async #ask(method: 'GET' | 'POST', url: string, fields?: Record<string, string>, more = {}): Promise<Page> {
    const headers: Record<string, string | undefined> = {
      accept: 'text/html',
      'accept-language': 'en',
      ...(this.cookie ? { cookie: `${COOKIE}=${this.cookie}` } : {}),
      ...(method === 'POST'
        ? { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
        : {}),
      ...more,
    }
    const response = await this.#world.app.inject({
      method,
      url,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      ...(fields ? { payload: String(new URLSearchParams(fields)) } : {}),
    })
    const set = response.cookies.find(({ name }) => name === COOKIE)
    if (set) this.cookie = set.value
    const { statusCode: status, body: text } = response
    return { status, text, headers: response.headers, location: String(response.headers.location ?? '') }
  }

  get = (url: string): Promise<Page> => this.#ask('GET', url)
  post = (url: string, fields: Record<string, string> = {}, headers = {}): Promise<Page> =>
    this.#ask('POST', url, fields, headers)

  /** The form mark of this session. */
  async mark(url = '/console/settings'): Promise<string> {
    return /name="form_of" value="([^"]+)"/.exec((await this.get(url)).text)?.[1] ?? ''
  }

  /** The hidden fields of a form: the mark of the session, and more. */
  async hidden(url: string): Promise<Record<string, string>> {
    const inputs = (await this.get(url)).text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)
    return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
  }

  /** Opens the page of a change and submits its form. */
  submit = async (url: string, fields: Record<string, string> = {}): Promise<Page> =>
    this.post(url, { ...(await this.hidden(url)), ...fields })
}

/** The fields that a browser would send for a form without any edits. */
export async function shownForm(who: Person, path: string): Promise<Record<string, string>> {
  const { text } = await who.get(path)
  const unescaped = (value = '') =>
    value
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
  const inputs = [...text.matchAll(/<input(?! type="checkbox")[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g)]
  const checked = [...text.matchAll(/<input type="checkbox" name="([^"]+)" value="([^"]*)" checked>/g)]
  const boxes = checked.map(([, name]) => [
    ...[name, name],
    checked.flatMap(([, other, value = '']) => (other === name ? [value] : [])).join('\n'),
  ])
  const areas = [...text.matchAll(/<textarea[^>]* name="([^"]+)"[^>]*>([^<]*)</g)]
  const selects = [...text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>([\s\S]*?)<\/select>/g)].map(
    ([, name, options = '']) => [name, name, /value="([^"]*)" selected/.exec(options)?.[1] ?? ''],
  )
  return Object.fromEntries(
    [...inputs, ...boxes, ...areas, ...selects].map(([, name, value]) => [name, unescaped(value)]),
  )
}

export async function adminTokenHolder(world: World): Promise<Person> {
  const person = new Person(world)
  const page = await person.post('/console/sign-in', { token: ADMIN_TOKEN })
  if (page.status !== 303) throw new Error(`not signed in: ${page.status}`)
  return person
}

type Signed = Awaited<ReturnType<typeof signedIn>>

/** Signs in an operator of each role; returns a function that finds them by role. */
export async function signedInAs<R extends Role>(world: World, roles: readonly R[]): Promise<(role: R) => Signed> {
  const people = new Map<R, Signed>()
  for (const role of roles) people.set(role, await signedIn(world, role))
  return (role) => {
    const found = people.get(role)
    if (!found) throw new Error(role)
    return found
  }
}

let serial = 0

/** Creates an operator with an authenticator and signs in. */
export async function signedIn(world: World, role: Role) {
  const name = `${role}${++serial}`
  await createOperator(world.deps, { name, role, days: 1 })
  await setOperatorPassword(world.deps, { name, password: PASSWORD })
  const person = new Person(world)
  await person.post('/console/sign-in', { name, password: PASSWORD, code: '' })
  const made = await person.submit('/console/authenticator')
  const secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
  const form_of = /name="form_of" value="([^"]+)"/.exec(made.text)?.[1] ?? ''
  const done = await person.post('/console/authenticator/confirm', { code: codeOf(world, secret), form_of })
  if (done.status !== 200) throw new Error(`no authenticator: ${done.status} ${done.text}`)
  return { person, name, secret }
}
