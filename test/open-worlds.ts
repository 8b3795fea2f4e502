import type { FastifyInstance } from 'fastify'
import type { Clock } from '../src/platform/lib/clock.ts'

/** Open worlds by database URL, so that commands that know only this URL find the app and its clock. */
export const OPEN_WORLDS = new Map<string, { readonly app: FastifyInstance; readonly clock: Clock }>()
