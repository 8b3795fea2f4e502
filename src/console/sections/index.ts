import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { auditLog } from './audit.ts'
import { keys } from './keys.ts'
import { operators } from './operators.ts'
import { orders } from './orders.ts'
import { runPage, runTable } from './partner-runs.ts'
import { requests } from './requests.ts'
import { settings } from './settings.ts'
import { traffic } from './traffic.ts'
import { users } from './users.ts'

/** In the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  sectionOf('apps'),
  users,
  sectionOf('grants'),
  sectionOf('partners', { tables: runTable, details: [runPage] }),
  orders,
  traffic,
  sectionOf('jobs'),
  auditLog,
  requests,
  operators,
  keys,
  settings,
]
