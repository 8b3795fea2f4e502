import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { operatorAdminRoutes } from './routes.ts'

/** Named operators with roles; the only routes are those for admins. */
export const operatorsRoom = operatorRoutes(operatorAdminRoutes)
