import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { textsFor } from './page.ts'

/** The text of a page that confirms what a form has just done: `?done=saved`. Unknown values count as absent. */
export function doneText<Kind extends string>(texts: Readonly<Record<Kind, string>>) {
  const query = z.object({ done: z.enum(Object.keys(texts) as Kind[]) })
  return (request: FastifyRequest): string | null => {
    const { data } = query.safeParse(request.query)
    return data ? textsFor(request)(texts[data.done]) : null
  }
}
