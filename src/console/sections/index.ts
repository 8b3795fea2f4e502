import type { Section } from '../page-model.ts'
import { apps } from './apps.ts'
import { auditLog } from './audit.ts'
import { grants } from './grants.ts'
import { jobs } from './jobs.ts'
import { keys } from './keys.ts'
import { operators } from './operators.ts'
import { orders } from './orders.ts'
import { partners } from './partners.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'
import { traffic } from './traffic.ts'
import { users } from './users.ts'

/** In the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  apps,
  users,
  grants,
  partners,
  orders,
  traffic,
  jobs,
  auditLog,
  requests,
  operators,
  keys,
  settings,
]
