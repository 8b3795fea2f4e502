import { DAY_S } from '../../db/retention.ts'
import { parseInput } from '../../lib/json/input.ts'
import { ENDING_WITHIN_S, listBreakers, listCertificates } from '../../partner-reach/index.ts'
import { partnerLink } from '../explained.ts'
import type { Cell, ListPage, PageContext } from '../page-model.ts'
import { at, count, link, text, time } from '../texts.ts'

/** Whether partners can be reached: certificates that end, partners that are not called now. */

const CERTIFICATES = 'GET /certificates'
const BREAKERS = 'GET /breakers'

export const reachLinks = ({ t }: PageContext) => [
  { operation: CERTIFICATES, href: at('partners', 'certificates'), text: t('console.certificates.title') },
  { operation: BREAKERS, href: at('partners', 'breakers'), text: t('console.breakers.title') },
]

const daysCell = (days: number): Cell => {
  if (days < 0) return { text: String(days), tone: 'bad' }
  return days * DAY_S < ENDING_WITHIN_S ? { text: count(days), tone: 'warn' } : text(count(days))
}

const certificates: ListPage = {
  path: '/partners/certificates',
  operation: CERTIFICATES,
  title: 'console.certificates.title',
  lead: 'console.certificates.lead',
  filters: ({ t }) => [{ name: 'within_days', label: t('console.certificates.within'), kind: 'number' }],
  read: async ({ deps, t, fields }) => {
    const found = await listCertificates(deps, parseInput(listCertificates.input, fields))
    return {
      table: {
        head: [
          'PartnerId',
          t('console.certificates.host'),
          t('console.certificates.days'),
          t('console.certificates.ends'),
          t('console.certificates.seen'),
        ],
        rows: found.certificates.map(({ partner_id, origin, days_left, ends_at, seen_at }) => [
          partnerLink(partner_id),
          text(origin),
          daysCell(days_left),
          time(ends_at),
          time(seen_at),
        ]),
        none: t('console.certificates.none'),
      },
      next: found.next,
    }
  },
}

const breakers: ListPage = {
  path: '/partners/breakers',
  operation: BREAKERS,
  title: 'console.breakers.title',
  lead: 'console.breakers.lead',
  filters: () => [],
  read: async ({ deps, t, fields }) => {
    const found = await listBreakers(deps, parseInput(listBreakers.input, fields))
    return {
      table: {
        head: [
          'PartnerId',
          t('console.breakers.processes'),
          t('console.breakers.since'),
          t('console.breakers.retry'),
          t('console.field.change'),
        ],
        rows: found.breakers.map(({ partner_id, processes, opened_at, retry_at }) => [
          partnerLink(partner_id),
          text(count(processes)),
          time(opened_at),
          time(retry_at),
          link(t('console.partners.reset'), at('partners', String(partner_id), 'reset-breaker')),
        ]),
        none: t('console.breakers.none'),
      },
      next: found.next,
    }
  },
}

export const reachPages: readonly ListPage[] = [certificates, breakers]
