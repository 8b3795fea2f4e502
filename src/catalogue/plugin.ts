import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { productRoutes } from './product-routes.ts'

/** Products and price calendars as partners send them; the only routes are those for operators. */
export const catalogueRoom = operatorRoutes(productRoutes)
