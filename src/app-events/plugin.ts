import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { appEventRoutes } from './routes.ts'

/** Operators see what apps were told. It is sent by src/jobs. */
export const appEventsRoom = operatorRoutes(appEventRoutes)
