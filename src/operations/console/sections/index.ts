import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { api } from './api.ts'
import { requests } from './requests.ts'
import { entryPage, unmask } from './traffic-entry.ts'

/** In the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  sectionOf('apps'),
  sectionOf('users'),
  sectionOf('grants'),
  sectionOf('partners'),
  sectionOf('orders'),
  // The page of a call has more than its row: it explains what is wrong, and unmasks bodies for a reason.
  { ...sectionOf('traffic'), details: [entryPage], forms: [unmask] },
  sectionOf('jobs'),
  sectionOf('audit'),
  requests,
  sectionOf('operators'),
  sectionOf('keys'),
  sectionOf('settings'),
  api,
]
