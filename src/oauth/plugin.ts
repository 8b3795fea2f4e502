import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { allowedMethods } from '../lib/web/allowed-methods.ts'
