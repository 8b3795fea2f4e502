import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { entryPage, unmask } from './traffic-entry.ts'

/** Of one call more is told than its row gives: what is wrong with it, in words, and bodies as they came for a reason. */
export const traffic: Section = { ...sectionOf('traffic'), details: [entryPage], actions: [unmask] }
