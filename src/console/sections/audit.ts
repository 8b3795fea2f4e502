import { listAudit, verification, type verifyAudit, verifyAuditInTime } from '../../audit/index.ts'
import { type OutputOf, parseInput } from '../../lib/json/input.ts'
import type { Translate } from '../../lib/web/locale.ts'
import { requestLink } from '../explained.ts'
import type { Action, Cell, Fact, PageContext, Section, Table } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { at, code, count, stateCell, text, time, withTime } from '../texts.ts'

type ShownEvent = OutputOf<typeof listAudit>['events'][number]

const ON_A_PAGE = 50

/** `{"before":…}` in full; what is longer is for the export. */
const LONGEST = 600

const detailOf = ({ detail }: ShownEvent): Cell => {
  const written = JSON.stringify(detail)
  return written === '{}' ? text('') : code(written.length > LONGEST ? `${written.slice(0, LONGEST)}…` : written)
}

/** Addresses are personal data: a viewer does not see them. */
const actorOf = ({ actor, address: from }: ShownEvent, { role }: PageContext): Cell => {
  const address = mayDo(role, PERSONAL_DATA) ? from : null
  return text([actor.name ? `${actor.kind} ${actor.name}` : actor.kind, address].filter(Boolean).join(', '))
}

export const eventTable = (events: readonly ShownEvent[], context: PageContext): Table => {
  const { t } = context
  return {
    head: [
      t('console.field.at'),
      t('console.field.who'),
      t('console.field.what'),
      t('console.field.target'),
      t('console.field.outcome'),
      t('console.field.request'),
      t('console.field.detail'),
    ],
    rows: events.map((event) => [
      time(event.at),
      actorOf(event, context),
      code(event.action),
      text(event.target ?? ''),
      stateCell(event.outcome, t),
      requestLink(event.request_id),
      detailOf(event),
    ]),
    none: t('console.audit.none'),
  }
}

const noteOf = ({ intact, unverifiable }: OutputOf<typeof verifyAudit>, t: Translate): string => {
  if (intact) return t('console.audit.intact')
  return unverifiable ? t('console.audit.unverifiable') : t('console.audit.broken')
}

const readPage = async (context: PageContext) => {
  const { deps, fields } = context
  const { events, next } = await listAudit(deps, parseInput(listAudit.input, { limit: ON_A_PAGE, ...fields }))
  return { table: eventTable(events, context), next }
}

/** An action because it reads the whole log; it changes nothing. */
const verify: Action = {
  path: '/audit/verify',
  operation: 'GET /audit/verify',
  title: 'console.audit.verify',
  confirm: async ({ t }) => ({
    says: [t('console.audit.verify_says')],
    fields: [
      { name: 'head', label: t('console.field.head'), kind: 'text', most: 90, hint: t('console.audit.head_hint') },
    ],
    back: at('audit'),
  }),
  run: async ({ deps, t, fields }) => {
    const found = await verifyAuditInTime(deps, parseInput(verification, { head: fields.head }))
    const numbers: [string, number][] = [
      [t('console.audit.rows'), found.rows],
      [t('console.audit.unsealed'), found.unsealed],
      [t('console.audit.outside'), found.outside],
      [t('console.audit.other_key'), found.other_key],
    ]
    const problems: Fact[] =
      found.problems.length === 0
        ? []
        : [
            {
              name: t('console.audit.problems'),
              cells: found.problems.map(({ problem, first_at }) => ({
                ...withTime(`\n: ${problem}`, first_at),
                isEnglish: true,
              })),
            },
          ]
    return {
      note: noteOf(found, t),
      tone: found.intact ? 'good' : 'bad',
      values: [
        ...numbers.map(([name, value]) => ({ name, cells: [text(count(value))] })),
        ...problems,
        { name: t('console.field.head'), cells: [code(found.head ?? '–')] },
      ],
    }
  },
}

export const auditLog: Section = {
  id: 'audit',
  title: 'console.audit.title',
  operation: 'GET /audit',
  lists: [
    {
      path: '/audit',
      operation: 'GET /audit',
      title: 'console.audit.title',
      lead: 'console.audit.lead',
      filters: ({ t }) => [
        { name: 'actor', label: t('console.field.who'), kind: 'text', most: 128 },
        { name: 'action', label: t('console.field.action_begins'), kind: 'text', most: 64 },
        {
          name: 'target',
          label: t('console.field.target'),
          kind: 'text',
          most: 256,
          hint: t('console.audit.target_hint'),
        },
        { name: 'request_id', label: t('console.field.request'), kind: 'text', most: 64 },
        { name: 'from', label: t('console.field.from'), kind: 'date' },
        { name: 'to', label: t('console.field.to'), kind: 'date' },
      ],
      read: readPage,
      actions: ({ t }) => [
        { operation: 'GET /audit/verify', href: at('audit', 'verify'), text: t('console.audit.verify') },
      ],
    },
  ],
  actions: [verify],
}
