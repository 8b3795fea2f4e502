import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { api } from './api.ts'
import { orderTimeline } from './order-timeline.ts'
import { runPage, runTable } from './partner-runs.ts'
import { requests } from './requests.ts'
import { traffic } from './traffic.ts'

/** In the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  sectionOf('apps'),
  sectionOf('users'),
  sectionOf('grants'),
  sectionOf('partners', { tables: { '/partners/:partner_id': runTable }, details: [runPage] }),
  sectionOf('orders', { tables: { '/orders/:order_id': orderTimeline } }),
  traffic,
  sectionOf('jobs'),
  sectionOf('audit'),
  requests,
  sectionOf('operators'),
  sectionOf('keys'),
  sectionOf('settings'),
  api,
]
