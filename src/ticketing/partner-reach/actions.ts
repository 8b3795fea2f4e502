import type { Deps } from '../../platform/deps.ts'
import { action, type PageAddress } from '../../platform/lib/action.ts'
import { onePartner } from '../partners/index.ts'
import { listBreakers, resetBreaker } from './breaker.ts'
import { ENDING_WITHIN_DAYS, listCertificates } from './certificate.ts'

const pageOfPartner = ({ partner_id }: Readonly<Record<string, unknown>>): PageAddress => [
  '/partners/:partner_id',
  { partner_id },
]

const toneOf = (days: number) => (days < 0 ? 'bad' : days < ENDING_WITHIN_DAYS ? 'warning' : 'plain')

export const REACH_ACTIONS = [
  action({
    route: 'GET /breakers',
    command: 'partner breakers',
    page: { path: '/partners/breakers', about: [] },
    role: 'viewer',
    run: listBreakers,
    list: {
      rows: 'breakers',
      columns: [{ name: 'partner_id', page: pageOfPartner }, 'processes', 'opened_at', 'retry_at'],
    },
  }),
  action({
    route: 'GET /certificates',
    command: 'partner certificates',
    page: { path: '/partners/certificates', about: [] },
    role: 'viewer',
    run: listCertificates,
    list: {
      rows: 'certificates',
      columns: [
        { name: 'partner_id', page: pageOfPartner },
        'origin',
        'ends_at',
        { name: 'days_left', tone: ({ days_left }) => toneOf(days_left) },
        'seen_at',
      ],
    },
  }),
  action({
    route: 'POST /partners/:partner_id/reset-breaker',
    command: 'partner reset-breaker',
    role: 'support',
    input: onePartner,
    run: (deps: Deps, { partner_id }) => resetBreaker(deps, partner_id),
    offered: ({ opened_at }) => opened_at !== undefined,
  }),
]
