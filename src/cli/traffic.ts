import type { Command } from 'commander'
import { allTrafficFilter, type LineOfAll, listAllTraffic } from '../sandbox/index.ts'
import type { CliContext } from './context.ts'
import { lists } from './list.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse traffic list`: calls and notices of all partners, as over /admin/v1/traffic. */
export function trafficCommands(program: Command, context: CliContext): void {
  const traffic = program.command('traffic').description('calls to partners, and what they have sent')
  const list = traffic
    .command('list')
    .description('calls in both directions of all partners, newest first; a search looks at a thousand calls a page')
    .option('--partner-id <partner_id>', 'only those of this partner')
    .option('--path <text>', 'only those whose path or URL contains this')
    .option('--code <code>', 'only those with this code')
    .option('--from <time>', 'at this time or later, such as 2026-05-06T00:00:00Z')
    .option('--to <time>', 'before this time')
  lists(list, context, {
    plural: 'traffic',
    input: allTrafficFilter,
    typed: ({ partnerId, path, code, from, to }) => ({ partner_id: partnerId, path, code, from, to }),
    page: listAllTraffic,
    table,
    usual: 50,
  })
}

function table(lines: readonly LineOfAll[]): string {
  if (lines.length === 0) return 'no calls'
  const rows = lines.map((line) => [
    readable(line.at),
    String(line.partner_id),
    line.direction,
    line.name,
    line.outcome.name,
    readable(line.code),
    `${line.kind}/${line.id}`,
    readable(line.detail),
  ])
  return aligned([['AT', 'PARTNER', 'WAY', 'WHAT', 'OUTCOME', 'CODE', 'ID', 'DETAIL'], ...rows])
}
