import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { STEP_UP } from '../account/index.ts'
import { type AppRequest, orRefused, translatorOf } from './guard.ts'

interface Sensitive {
  /** The page of the form, to which others come back once they have shown who they are. */
  readonly path: string
  readonly show: (alert: string) => Promise<FastifyReply>
  readonly work: () => Promise<FastifyReply>
}

/** Does it for somebody who has shown just now who they are, with a second factor; others do so first. */
export async function sensitive(deps: Deps, given: AppRequest, { path, show, work }: Sensitive): Promise<FastifyReply> {
  const factor = await STEP_UP.secondFactor(deps, given.person)
  if (factor === 'none') {
    given.reply.code(403)
    return show(translatorOf(given)('developer.secret.needs_factor'))
  }
  if (factor === 'not-used' || !(await STEP_UP.isFresh(deps, given.person))) {
    return STEP_UP.ask(given.reply, path, true)
  }
  return orRefused(given, work, show)
}

const HOUR_S = 3_600
/** For how long the secret before goes on working; anything unusable counts as the usual day. */
export const overlap = z.coerce
  .number()
  .pipe(z.literal([0, HOUR_S, 24 * HOUR_S, 7 * 24 * HOUR_S]))
  .catch(24 * HOUR_S)
