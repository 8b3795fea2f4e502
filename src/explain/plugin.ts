import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { explainRoutes } from './routes.ts'

/** `/admin/v1/requests/…` and `/admin/v1/explain`. What is refused is kept by src/refusals/record.ts. */
export const explainRoom = operatorRoutes(explainRoutes)
