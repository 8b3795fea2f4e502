import { z } from 'zod'
import type { Tone } from '../../../platform/lib/action.ts'
import { positiveId } from '../../../platform/lib/json/fields.ts'
import { type OutputOf, parseInput } from '../../../platform/lib/json/input.ts'
import { listRuns, progressOfRun, type RunProgress, showRun } from '../../../sandbox/certification/index.ts'
import { trafficTexts } from '../../../sandbox/portal/index.ts'
import type { Cell, DetailPage, PageContext, Table } from '../page-model.ts'
import { at, code, link, text, time } from '../texts.ts'

type StepProgress = OutputOf<typeof showRun>['steps'][number]

const pageOf = (id: bigint, ...more: string[]): string => at('partners', String(id), ...more)
const idOf = ({ params }: PageContext): bigint => parseInput(positiveId, params.partner_id)

/** Certification runs of a partner: what its people see in the sandbox, without the log. */

const RUN_STATES: Readonly<Record<RunProgress['state'], readonly [key: string, tone: Tone]>> = {
  under_way: ['console.runs.under_way', 'plain'],
  all_passed: ['console.runs.all_passed', 'good'],
  accepted: ['console.runs.accepted', 'good'],
  replaced: ['console.runs.replaced', 'warn'],
}

const STEP_STATES: Readonly<Record<StepProgress['state'] | 'running', readonly [key: string, tone: Tone]>> = {
  passed: ['console.runs.passed', 'good'],
  failed: ['console.state.failed', 'bad'],
  not_tested: ['sandbox.run.not_tested', 'warn'],
  interrupted: ['console.runs.interrupted', 'warn'],
  running: ['console.state.running', 'plain'],
  open: ['console.runs.open', 'plain'],
}

const runCell = (progress: RunProgress, { t }: PageContext): Cell => {
  const [key, tone] = RUN_STATES[progress.state]
  return { text: t(key), tone }
}

/** Newest first, a hundred at most. */
export async function runTable(context: PageContext): Promise<readonly Table[]> {
  const { deps, t } = context
  const partner = idOf(context)
  const runs = await listRuns(deps, partner)
  const table = {
    title: t('console.runs.title'),
    head: [
      t('console.runs.number'),
      t('console.field.state'),
      t('console.runs.steps'),
      t('console.field.created'),
      t('console.runs.accepted_at'),
    ],
    rows: runs.map((standing) => [
      link(
        t('console.runs.one', { number: String(standing.run.number) }),
        pageOf(partner, 'runs', standing.run.run_id),
      ),
      runCell(standing, context),
      text(`${standing.passed} / ${standing.steps}`),
      time(standing.run.created_at),
      time(standing.run.passed_at),
    ]),
    none: t('console.runs.none'),
  }
  return [table]
}

const oneRun = z.object({ run_id: z.guid() })

function stepRow({ step, state, running, attempts }: StepProgress, { t, locale }: PageContext): Cell[] {
  const [key, tone] = STEP_STATES[running ? 'running' : state]
  const last = attempts.at(-1)
  return [
    text(trafficTexts(locale).step(step.id)),
    code(step.id),
    { text: t(key), tone },
    text(String(attempts.length)),
    time(last?.started_at ?? null),
  ]
}

export const runPage: DetailPage = {
  path: '/partners/:partner_id/runs/:run_id',
  operation: 'GET /partners/:partner_id',
  read: async (context) => {
    const { deps, t, params } = context
    const partner = idOf(context)
    const { run_id } = parseInput(oneRun, { run_id: params.run_id })
    const view = await showRun(deps, partner, run_id)
    const { run, steps } = view
    return {
      title: t('console.runs.one', { number: String(run.number) }),
      facts: [
        { name: 'PartnerId', cells: [link(String(partner), pageOf(partner))] },
        { name: t('console.field.state'), cells: [runCell(progressOfRun(view), context)] },
        { name: t('console.field.created'), cells: [time(run.created_at)] },
        { name: t('console.runs.accepted_at'), cells: [time(run.passed_at)] },
      ],
      tables: [
        {
          title: t('console.runs.all_steps'),
          head: [
            t('console.runs.step'),
            'id',
            t('console.field.state'),
            t('console.field.attempts'),
            t('console.runs.last_attempt'),
          ],
          rows: steps.map((step) => stepRow(step, context)),
          none: t('console.home.none'),
        },
      ],
      actions: [],
    }
  },
}
