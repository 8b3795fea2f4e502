import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { auditLog } from './audit.ts'
import { keys } from './keys.ts'
import { operators } from './operators.ts'
import { partners } from './partners.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'
import { traffic } from './traffic.ts'
import { users } from './users.ts'

/** Below the partner that they belong to. */
const products = sectionOf('partners')

/** In the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  sectionOf('apps'),
  users,
  sectionOf('grants'),
  {
    ...partners,
    lists: [...(partners.lists ?? []), ...(products.lists ?? [])],
    details: [...(partners.details ?? []), ...(products.details ?? [])],
    actions: [...(partners.actions ?? []), ...(products.actions ?? [])],
  },
  sectionOf('orders'),
  traffic,
  sectionOf('jobs'),
  auditLog,
  requests,
  operators,
  keys,
  settings,
]
