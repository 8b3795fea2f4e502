import type { FastifyPluginAsync } from 'fastify'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { textsFor } from '../../../platform/lib/web/page.ts'
import { listRuns, type RunDeps, type RunProgress } from '../../certification/index.ts'
import { partnerOf, sendSandboxPage } from '../guard.ts'
import { type SellerProgress, type SellerState, sellerProgress } from '../seller-progress.ts'
import { shownChoice } from './run-parts.ts'
import { historyQuery } from './wire.ts'

const STAGES = ['signature', 'functions', 'steps', 'acceptance'] as const
/** How many stages are done. */
const DONE: Readonly<Record<SellerState, number>> = { locked: 0, no_run: 1, under_way: 2, all_passed: 3, accepted: 4 }

/** The stages of the current run, and whether this or an earlier run was accepted. */
export function homeOf({ state, present, accepted, isLater }: SellerProgress, t: Translate) {
  const progress = present && { passed: String(present.passed), steps: String(present.steps) }
  const texts = {
    signature: [t('sandbox.home.signature'), t('sandbox.home.signature_detail'), '/sandbox/signature'],
    functions: [t('sandbox.home.functions'), t('sandbox.home.functions_detail'), '/sandbox/functions'],
    steps: [
      t('sandbox.home.steps'),
      progress ? t('sandbox.home.steps_progress', progress) : t('sandbox.home.steps_detail'),
      '/sandbox/run',
    ],
    acceptance: [t('sandbox.home.acceptance'), t('sandbox.home.acceptance_detail'), '/sandbox/run#acceptance'],
  } as const
  return {
    reached: accepted && acceptedText(accepted, isLater ? present : null, t),
    /** Where the page shows the delivery of messages to the contacts. */
    messages: accepted && `/sandbox/run/${accepted.run_id}#acceptance`,
    stages: STAGES.map((id, index) => {
      const [name, detail, href] = texts[id]
      return { name, detail, href, state: index < DONE[state] ? 'done' : index === DONE[state] ? 'next' : '' }
    }),
  }
}

/** The accepted run; a line feed in `text` marks the place of `at`. */
function acceptedText(
  accepted: NonNullable<SellerProgress['accepted']>,
  later: SellerProgress['present'],
  t: Translate,
) {
  const values = { number: String(accepted.number), at: '\n' }
  const text = later
    ? t('sandbox.home.passed_before', { ...values, later: String(later.number) })
    : t('sandbox.home.all_done', values)
  return { text, at: accepted.passed_at.toISOString() }
}

const pastRun = (progress: RunProgress, t: Translate) => ({
  number: progress.run.number,
  created_at: progress.run.created_at,
  ...{ passed: progress.passed, steps: progress.steps, href: `/sandbox/run/${progress.run.run_id}` },
  choice: shownChoice(progress.run.choice, progress.run.created_at, t),
  ...stateOf(progress, t),
})

/** The run's state in words; a line feed marks the place of `at`. */
function stateOf({ run, state }: RunProgress, t: Translate) {
  const { passed_at, superseded_at } = run
  switch (state) {
    case 'accepted':
      return { tone: 'good', word: t('sandbox.history.passed', { at: '\n' }), at: passed_at }
    case 'replaced':
      return { tone: 'plain', word: t('sandbox.history.over', { at: '\n' }), at: superseded_at }
    default:
      return { tone: 'plain', word: t('sandbox.history.present'), at: null }
  }
}

const RUNS_SHOWN = 100

/** The sandbox's home, and the history of its runs. */
export const overviewRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/', async (request, reply) => {
    const page = homeOf(await sellerProgress(deps, partnerOf(request).partnerId), textsFor(request))
    return sendSandboxPage(request, reply, 'sandbox/home', { page })
  })

  app.get('/history', async (request, reply) => {
    const t = textsFor(request)
    const { before } = historyQuery.parse(request.query)
    const found = await listRuns(deps, partnerOf(request).partnerId, { before, most: RUNS_SHOWN + 1 })
    const runs = found.slice(0, RUNS_SHOWN).map((run) => pastRun(run, t))
    const page = { runs, older: found.length > RUNS_SHOWN ? `/sandbox/history?before=${runs.at(-1)?.number}` : null }
    return sendSandboxPage(request, reply, 'sandbox/history', page, { section: 'history' })
  })
}
