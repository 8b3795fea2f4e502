import type { Command } from 'commander'
import type { OutputOf } from '../lib/json/input.ts'
import { listAllTraffic, showTraffic } from '../sandbox/index.ts'
import type { CliContext } from './context.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable, withPeriod } from './text.ts'

type OneOfTraffic = OutputOf<typeof showTraffic>

/** `gatehouse traffic list` and `show`: calls and notices of all partners, as over /admin/v1/traffic. */
export function trafficCommands(program: Command, context: CliContext): void {
  const traffic = program.command('traffic').description('calls to partners, and what they have sent')
  const list = traffic
    .command('list')
    .description('calls in both directions of all partners, newest first; a search looks at a thousand calls a page')
    .option('--partner-id <partner_id>', 'only those of this partner')
    .option('--path <text>', 'only those whose path or URL contains this')
    .option('--code <code>', 'only those with this code')
  defineListCommand(withPeriod(list), context, {
    plural: 'traffic',
    input: listAllTraffic.input,
    inputFrom: ({ partnerId, path, code, from, to }) => ({ partner_id: partnerId, path, code, from, to }),
    page: listAllTraffic,
    table,
    usual: 50,
  })
  const show = traffic
    .command('show')
    .description('one call or notice; bodies are masked unless there is a reason')
    .argument('[id]')
    .usage('<id> [options]')
    .option('--reason <text>', 'why its bodies are read as they came; the audit log keeps it')
  defineCommand(show, context, {
    input: showTraffic.input,
    // As the list names it, with its kind, or alone.
    inputFrom: ({ reason }, id) => ({ id: id?.split('/').at(-1), reason }),
    run: showTraffic,
    text: oneText,
    flags: { id: 'id' },
  })
}

function oneText({ request, response, failure, ...entry }: OneOfTraffic): string {
  const { kind, id, partner_id, at, name, outcome, order_id, code, duration_ms, verified, mistakes, warnings } = entry
  const facts = {
    ...{ id: `${kind}/${id}`, at, partner_id, what: name, outcome, order_id, code, duration_ms, verified },
    ...(entry.cause === null ? {} : { cause: causeOf(entry) }),
    ...{ why: failure?.detail, mistakes, warnings, address: `${request.method} ${request.url}` },
  }
  const texts = [
    messageText('sent', request, entry.masked),
    ...(response ? [messageText(`answered with HTTP ${readable(response.status)}`, response, entry.masked)] : []),
  ]
  return [aligned(Object.entries(facts).map(([field, value]) => [field, readable(value)])), ...texts].join('\n\n')
}

const causeOf = ({ cause, cause_ref }: Pick<OneOfTraffic, 'cause' | 'cause_ref'>): string =>
  [cause, cause_ref].filter(Boolean).join(' ')

type Message = Pick<OneOfTraffic['request'], 'headers' | 'body' | 'cut_from'>

const messageText = (title: string, { headers = [], body, cut_from }: Message, isMasked: boolean): string =>
  [
    `${title}${isMasked ? ' (masked)' : ''}${cut_from === undefined ? '' : ` (the beginning of ${cut_from} characters)`}:`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    body === '' ? '-' : body,
  ].join('\n')

function table(lines: Readonly<OutputOf<typeof listAllTraffic>['traffic']>): string {
  if (lines.length === 0) return 'no calls'
  const rows = lines.map((line) => [
    readable(line.at),
    String(line.partner_id),
    line.direction,
    line.name,
    line.outcome.name,
    readable(line.code),
    causeOf(line) || '-',
    `${line.kind}/${line.id}`,
    readable(line.detail),
  ])
  return aligned([['AT', 'PARTNER', 'WAY', 'WHAT', 'OUTCOME', 'CODE', 'CAUSE', 'ID', 'DETAIL'], ...rows])
}
