import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { partnerCallRoutes } from './routes.ts'

/** Calls to partners have no page and no caller of their own; the only routes are those for operators. */
export const partnerCallsRoom = operatorRoutes(partnerCallRoutes)
