import { sectionOf } from '../action-pages.ts'
import type { Section } from '../page-model.ts'
import { entryPage, unmask } from './traffic-entry.ts'

/**
 * The page of one call tells more than its row: what is wrong with it, in words, and bodies as they came for a reason.
 */
export const traffic: Section = { ...sectionOf('traffic'), details: [entryPage], actions: [unmask] }
