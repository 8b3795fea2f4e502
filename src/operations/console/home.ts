import { listAudit } from '../../platform/audit/index.ts'
import { partsOf } from '../../platform/lib/action.ts'
import { addSeconds, HOUR_S } from '../../platform/lib/clock.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { certificatesEndingSoon, listBreakers } from '../../ticketing/partner-reach/index.ts'
import { partnersById } from '../../ticketing/partners/index.ts'
import { actionOf, rowsIn } from '../actions/index.ts'
import { jobCounts } from '../jobs/index.ts'
import type { GatherMetrics } from '../metrics/index.ts'
import { ADMIN_TOKEN_NAME } from '../operators/index.ts'
import { chartsOf, spanLinks, spanOf, worstOf } from './history.ts'
import type { Cell, Fact, PageContext } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { perform } from './placed.ts'
import { at, count, fact, hrefOf, link, text, withTime } from './texts.ts'

/** What needs attention: decisions, jobs, partners that do not answer, expiring certificates, and who fails most. */

/** When the oldest due job has waited longer, the queue is behind. */
const BEHIND_S = 300
/** The most partners that each fact names. */
const MAX_NAMED = 20
/** Certificates of which these are chosen; those of former hosts are among them. */
const MAX_CERTIFICATES = 1_000

export async function homePage(context: PageContext, gather: GatherMetrics) {
  const { deps, t, role } = context
  const now = deps.clock.now()
  const span = spanOf(context)
  const [decisions, jobs, charts, worst, waiting, certificates, refused] = await Promise.all([
    Promise.all(DECISIONS.map((queue) => waitingIn(queue, context))),
    jobCounts(deps),
    chartsOf(context, gather, span),
    worstOf(context, span),
    openBreakers(context),
    endingCertificates(context),
    refusedSignIns(context, addSeconds(now, 1 - HOUR_S)),
  ])
  const isBehind = jobs.oldest_due_s > BEHIND_S
  const jobsLink = (query: string, value: number): Cell =>
    mayDo(role, 'GET /jobs') ? link(count(value), `${at('jobs')}${query}`) : text(count(value))
  const orNone = (cells: Cell[]): Cell[] =>
    cells.length > 0 ? cells : [{ text: t('console.home.none'), tone: 'good' }]
  const facts: Fact[] = [
    ...decisions.flat(),
    fact(t('console.home.database'), { text: t('console.home.answers'), tone: 'good' }),
    fact(
      t('console.home.waiting'),
      jobsLink('', jobs.waiting + jobs.running),
      ...(jobs.oldest_due ? [oldest(jobs.oldest_due, isBehind, t)] : []),
    ),
    fact(t('console.home.failed_jobs'), {
      ...jobsLink('?failed=true', jobs.failed),
      tone: jobs.failed > 0 ? 'bad' : 'good',
    }),
    fact(t('console.home.breakers'), ...orNone(waiting)),
    fact(t('console.home.certificates'), ...orNone(certificates)),
    fact(t('console.home.sign_ins'), ...refused),
  ]
  const spans = spanLinks(span, context)
  return { facts, spans, charts, worst, isFirst: deps.actor?.name === ADMIN_TOKEN_NAME }
}

const MAX_COUNTED = 100

/** Queues of decisions for operators, longest waiting first, and the field that says since when. */
const DECISIONS = [
  { list: 'GET /app-requests', since: 'asked_at' },
  { list: 'GET /users/deletion-requests', since: 'requested_at' },
] as const

async function waitingIn({ list, since }: (typeof DECISIONS)[number], context: PageContext): Promise<Fact[]> {
  const { t, role } = context
  if (!mayDo(role, list)) return []
  const action = actionOf(list)
  const output = await perform(action, context, { limit: MAX_COUNTED })
  const rows = rowsIn(output, action.list?.rows ?? '')
  const [first] = rows.map((row) => row[since])
  const many = `${count(rows.length)}${output.next ? '+' : ''}`
  return [
    fact(
      t(`action.${action.id}`),
      { ...link(many, hrefOf([partsOf(list).path])), tone: rows.length > 0 ? 'warning' : 'good' },
      ...(first instanceof Date ? [withTime(t('console.home.since', { since: '\n' }), first)] : []),
    ),
  ]
}

/** Refused sign-ins: the prefix of their events, and the text for whose they are. */
const SIGN_INS = [
  ['operator_sign_in_', 'console.home.sign_ins_operators'],
  ['user_sign_in_', 'console.home.sign_ins_users'],
  ['partner_sign_in_', 'console.home.sign_ins_partners'],
] as const

const refusedSignIns = ({ deps, t }: PageContext, since: Date): Promise<Cell[]> =>
  Promise.all(
    SIGN_INS.map(async ([action, text]) => {
      const { events, next } = await listAudit(deps, { action, from: since, limit: MAX_COUNTED })
      const refused = `${count(events.length)}${next === null ? '' : '+'}`
      const query = new URLSearchParams({ action, from: since.toISOString() })
      return link(t(text, { count: refused }), `${at('audit')}?${query}`)
    }),
  )

const oldest = (since: Date, isBehind: boolean, t: PageContext['t']): Cell => ({
  ...withTime(t('console.home.oldest', { since: '\n' }), since),
  ...(isBehind ? { tone: 'bad' } : {}),
})

/** The first cells, and a link to the list of all if there are more. */
const withRest = (cells: Cell[], list: string, { t }: PageContext): Cell[] =>
  cells.length > MAX_NAMED ? [...cells.slice(0, MAX_NAMED), link(t('console.home.all'), list)] : cells

async function openBreakers(context: PageContext): Promise<Cell[]> {
  const { breakers } = await listBreakers(context.deps, { limit: MAX_NAMED + 1 })
  const ids = breakers.map(({ partner_id }) => partner_id)
  const partners = await partnersById(context.deps, ids)
  const nameOf = (id: bigint) => partners.get(id)?.name ?? String(id)
  const cells = ids.map((id): Cell => ({ ...link(nameOf(id), at('partners', String(id))), tone: 'bad' }))
  return withRest(cells, at('partners', 'breakers'), context)
}

const originOf = (url: string | null): string | undefined => (url === null ? undefined : parsedUrl(url)?.origin)

/** Counts only hosts in the partner's present URLs, not hosts that were called earlier. */
async function endingCertificates(context: PageContext): Promise<Cell[]> {
  const { deps, t } = context
  const now = deps.clock.now()
  const certificates = await certificatesEndingSoon(deps, MAX_CERTIFICATES)
  const partners = await partnersById(
    deps,
    certificates.map(({ partner_id }) => partner_id),
  )
  const cells = certificates.flatMap(({ partner_id, origin, ends_at }): Cell[] => {
    const partner = partners.get(partner_id)
    if (!partner) return []
    const origins = [partner.base_url, ...Object.values(partner.interface_urls)].map(originOf)
    if (!origins.includes(origin)) return []
    const isOver = ends_at < now
    const key = isOver ? 'console.home.certificate_ended' : 'console.home.certificate_ends'
    const shown = withTime(t(key, { partner: partner.name, origin, ends: '\n' }), ends_at)
    return [{ ...shown, href: at('partners', String(partner_id)), tone: isOver ? 'bad' : 'warning' }]
  })
  return withRest(cells, `${at('partners', 'certificates')}?within_days=30`, context)
}
