import type { Command } from 'commander'
import { type Purged, purge, purgeOptions } from '../jobs/index.ts'
import type { CliContext } from './context.ts'
import { defineMachineCommand } from './operation.ts'
import { progressBar } from './report.ts'
import { aligned } from './text.ts'

/** `gatehouse purge`: what the service does every hour, but now and until nothing is left. */
export function purgeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('purge')
    .description('delete expired tokens and sessions, and old codes, grants, notices and calls')
    .option('--seconds <number>', 'stop after this many seconds (default: when nothing is left)')
  defineMachineCommand(command, context, {
    input: purgeOptions,
    inputFrom: ({ seconds }) => ({ seconds }),
    run: async (deps, options) => {
      const bar = progressBar(context.terminal.stderr)
      const onProgress = ({ total }: Purged) => bar.show(total, undefined)
      return await purge(deps, options, { onProgress }).finally(bar.end)
    },
    text: ({ deleted, finished, shards_away }) => {
      const rows = Object.entries(deleted).map(([table, count]) => [table, String(count)])
      const why = shards_away ? `${shards_away.join(', ')} cannot be used` : 'the time is up'
      const end = finished ? [] : [`${why} and there may be more; run it again`]
      return [rows.length > 0 ? aligned(rows) : 'nothing was deleted', ...end].join('\n')
    },
  })
}
