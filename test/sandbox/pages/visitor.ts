import type { LightMyRequestResponse } from 'fastify'
import type { Lab } from '../lab.ts'
import { FORM, get, sessionOf } from '../partners.ts'

/** A browser without scripts that is signed in as a partner, by default that of the lab. */
export interface Visitor {
  readonly cookie: string
  open(path: string): Promise<LightMyRequestResponse>
  /** Posts a form and returns the answer itself. */
  send(path: string, fields?: Record<string, string> | string): Promise<LightMyRequestResponse>
  /** Posts a form and opens the page to which it leads. */
  submit(path: string, fields?: Record<string, string> | string): Promise<LightMyRequestResponse>
}

/** Marks the signature tool as passed. */
export const unlock = ({ world }: Lab, partnerId: bigint) =>
  world.pool.query('insert into signature_pass values ($1, $2) on conflict do nothing', [partnerId, world.clock.now()])

export async function visitor(lab: Lab, partner = { client_id: 'lab', client_secret: lab.secret }): Promise<Visitor> {
  const { world } = lab
  const cookie = await sessionOf(world, partner)
  const open = (path: string) => get(world, path, cookie, { 'accept-language': 'en' })
  const send: Visitor['send'] = (path, fields = {}) =>
    world.app.inject({
      method: 'POST',
      url: path,
      payload: new URLSearchParams(fields).toString(),
      headers: { ...FORM, cookie, 'accept-language': 'en' },
    })
  return {
    cookie,
    open,
    send,
    submit: async (path, fields) => {
      const answer = await send(path, fields)
      return answer.statusCode === 303 ? open(String(answer.headers.location)) : answer
    },
  }
}

/** The text of a page, without its markup. */
export const textOf = ({ body }: LightMyRequestResponse): string =>
  body
    .replace(/<script[\s\S]*?<\/script>|<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
