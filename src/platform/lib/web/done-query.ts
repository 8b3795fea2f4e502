import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { textsFor } from './page.ts'

/** What has just been done, said once by the page that follows a form: `?done=saved`. Anything unusable counts as not given. */
export const doneQuery = <Kind extends string>(kinds: readonly Kind[]) =>
  z.object({ done: z.enum(kinds).optional().catch(undefined) }).catch({ done: undefined })

/** The text of it, out of those that a page has; null where nothing was done. */
export function doneText<Kind extends string>(texts: Readonly<Record<Kind, string>>) {
  const query = doneQuery(Object.keys(texts) as Kind[])
  return (request: FastifyRequest): string | null => {
    const { done } = query.parse(request.query)
    return done ? textsFor(request)(texts[done]) : null
  }
}
