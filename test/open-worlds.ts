import type { FastifyInstance } from 'fastify'
import type { Clock } from '../src/platform/lib/clock.ts'

/** By the address of its database, for commands that are given only that. */
export const OPEN_WORLDS = new Map<string, { readonly app: FastifyInstance; readonly clock: Clock }>()
