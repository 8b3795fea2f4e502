import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { textsFor } from './page.ts'

/** The query of a page that confirms what a form has just done: `?done=saved`. Unknown values count as absent. */
export const doneQuery = <Kind extends string>(kinds: readonly Kind[]) =>
  z.object({ done: z.enum(kinds).optional().catch(undefined) }).catch({ done: undefined })

export function doneText<Kind extends string>(texts: Readonly<Record<Kind, string>>) {
  const query = doneQuery(Object.keys(texts) as Kind[])
  return (request: FastifyRequest): string | null => {
    const { done } = query.parse(request.query)
    return done ? textsFor(request)(texts[done]) : null
  }
}
