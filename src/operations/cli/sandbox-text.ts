import type { ShownRun, ShownSummary } from './sandbox-wire.ts'
import { aligned, readable } from './text.ts'

function stateOf({ state, current_step }: ShownSummary): string {
  if (state === 'under_way') return `at ${current_step}`
  return { all_passed: 'all steps passed', accepted: 'passed', replaced: 'overwritten' }[state]
}

export function runText({ steps, ...run }: ShownRun): string {
  const rows = steps.map(({ id, name, state, running, current, attempts }, at) => [
    current ? '>' : '',
    String(at + 1),
    id,
    running ? 'running' : state,
    String(attempts.length),
    name,
  ])
  return [
    `run ${run.number}  ${run.run_id}  ${stateOf(run)}  since ${run.created_at}`,
    '',
    aligned([['', '#', 'STEP', 'STATE', 'ATTEMPTS', 'NAME'], ...rows]),
  ].join('\n')
}

export function runTable(runs: readonly ShownSummary[]): string {
  if (runs.length === 0) return 'no runs yet'
  const rows = runs.map((run) => [
    String(run.number),
    run.run_id,
    run.created_at,
    readable(run.passed_at),
    stateOf(run),
  ])
  return aligned([['#', 'RUN_ID', 'SINCE', 'PASSED', 'STATE'], ...rows])
}
