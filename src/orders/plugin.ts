import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { orderRoutes } from './routes.ts'

/** Orders, refunds and consumption; the only routes are those for operators. */
export const ordersRoom = operatorRoutes(orderRoutes)
