import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { partnerReachRoutes } from './routes.ts'

/** Whether partners can be reached has no page and no caller of its own; the only routes are those for operators. */
export const partnerReachRoom = operatorRoutes(partnerReachRoutes)
