import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { settingsRoute } from './routes.ts'

/** Named operators with roles. */
export const operatorsRoom = operatorRoutes(settingsRoute)
