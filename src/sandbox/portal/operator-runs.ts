import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { action, type Column, onTerminal } from '../../platform/lib/action.ts'
import { onePartner, showPartner } from '../../ticketing/partners/index.ts'
import { listRuns, progressOfRun, type RunProgress, showRun } from '../certification/index.ts'
import { stepName } from './texts.ts'

const runLine = ({ run, state, passed, steps }: RunProgress) => {
  const { run_id, number, created_at, passed_at } = run
  return { run_id, number, state, passed, steps_total: steps, created_at, passed_at }
}

const RUN_TONES = {
  under_way: 'plain',
  all_passed: 'good',
  accepted: 'good',
  replaced: 'warn',
  passed: 'good',
  failed: 'bad',
  not_tested: 'warn',
  interrupted: 'warn',
  running: 'plain',
  open: 'plain',
} as const

/** The state of a run or step. */
const STATE: Column<{ readonly state: keyof typeof RUN_TONES }> = {
  name: 'state',
  of: ({ state }, t) => t(`console.runs.${state}`),
  tone: ({ state }) => RUN_TONES[state],
}

/** A partner's test runs, as its people see them in the sandbox but without the log. */
export const RUN_ACTIONS = [
  action({
    route: 'GET /partners/:partner_id/runs',
    command: 'partner runs',
    role: 'viewer',
    input: onePartner,
    run: async (deps: Deps, { partner_id }) => {
      await showPartner(deps, partner_id)
      return { runs: (await listRuns(deps, partner_id)).map(runLine) }
    },
    list: {
      rows: 'runs',
      onRecord: true,
      columns: [
        { name: 'number', of: ({ number }, t) => t('console.runs.one', { number: String(number) }) },
        STATE,
        { name: 'steps', of: ({ passed, steps_total }) => `${passed} / ${steps_total}` },
        'created_at',
        'passed_at',
        ...onTerminal(['run_id']),
      ],
    },
  }),
  action({
    route: 'GET /partners/:partner_id/runs/:run_id',
    command: 'partner run',
    arguments: ['partner_id', 'run_id'],
    role: 'viewer',
    input: onePartner.extend({ run_id: z.guid() }),
    run: async (deps: Deps, { partner_id, run_id }) => {
      const view = await showRun(deps, partner_id, run_id)
      const { number, state, created_at, passed_at } = runLine(progressOfRun(view))
      return {
        run: { partner_id, run_id, number, state, created_at, passed_at },
        steps: view.steps.map(({ step, state, running, attempts }) => ({
          ...{ step_id: step.id, state: running ? 'running' : state, attempts: attempts.length },
          last_attempt: attempts.at(-1)?.started_at ?? null,
        })),
      }
    },
    called: ({ run }) => run.number,
    parts: {
      run: ['partner_id', ...onTerminal(['run_id', 'number']), STATE, 'created_at', 'passed_at'],
      steps: [
        { name: 'step', of: ({ step_id }: { step_id: string }, t) => stepName(step_id, t), onPagesOnly: true },
        ...['step_id', STATE, 'attempts', 'last_attempt'],
      ],
    },
  }),
]
