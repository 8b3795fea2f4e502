import { z } from 'zod'

/** What has just been done, said once by the page that follows a form: `?done=saved`. Anything unusable counts as not given. */
export const doneQuery = <Kind extends string>(kinds: readonly Kind[]) =>
  z.object({ done: z.enum(kinds).optional().catch(undefined) }).catch({ done: undefined })

export const doneQueryOf = <Kind extends string>(texts: Readonly<Record<Kind, string>>) =>
  doneQuery(Object.keys(texts) as Kind[])
