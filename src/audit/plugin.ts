import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { auditRoutes } from './routes.ts'

/** Who did what; the only routes are those for operators. */
export const auditRoom = operatorRoutes(auditRoutes)
