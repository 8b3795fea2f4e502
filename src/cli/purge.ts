import type { Command } from 'commander'
import { type Purged, purge, purgeOptions } from '../jobs/purge.ts'
import type { CliContext } from './context.ts'
import { runs } from './operation.ts'
import { progressBar } from './progress.ts'
import { aligned } from './text.ts'

/** `gatehouse purge`: what the service does by itself every hour, at once and to the end. */
export function purgeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('purge')
    .description('delete what is over: expired tokens and sessions, old codes, grants, notices and calls')
    .option('--seconds <number>', 'stop after so many seconds (default: when nothing is left)')
  runs(command, context, {
    input: purgeOptions,
    typed: ({ seconds }) => ({ seconds }),
    run: async (deps, options) => {
      const bar = progressBar()
      const onProgress = ({ total }: Purged) => bar.show(total, undefined)
      return await purge(deps, options, { onProgress }).finally(bar.end)
    },
    text: ({ deleted, finished }) => {
      const rows = Object.entries(deleted).map(([table, count]) => [table, String(count)])
      const end = finished ? [] : ['the time is over and there may be more; run it again']
      return [rows.length > 0 ? aligned(rows) : 'nothing was deleted', ...end].join('\n')
    },
  })
}
