import type { Command } from 'commander'
import type { OutputOf } from '../lib/json/input.ts'
import { listNotices } from '../mtp/index.ts'
import { NOTICE_PATHS } from '../mws-wire/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse partner notices`, below a command for one partner. */
export function noticesCommand(command: Command, context: CliContext): void {
  command
    .option('--kind <kind>', `only ${Object.keys(NOTICE_PATHS).join(', ')}`)
    .option('--limit <number>', 'show at most this many (default: 50)')
  defineCommand(command, context, {
    input: listNotices.input,
    inputFrom: ({ kind, limit }, partner_id) => ({ partner_id, kind, limit }),
    run: async (deps, filter) => ({ notices: await listNotices(deps, filter) }),
    text: ({ notices }) => table(notices),
    flags: { partner_id: 'partner_id' },
  })
}

const SHOWN_OF_BODY = 200

const brief = (text: string): string => (text.length > SHOWN_OF_BODY ? `${text.slice(0, SHOWN_OF_BODY)}…` : text)

function table(notices: Readonly<OutputOf<typeof listNotices>>): string {
  if (notices.length === 0) return 'no notices'
  const rows = notices.map(({ received_at, path, refused, body }) => [
    readable(received_at),
    path,
    refused === null ? 'accepted' : `refused: ${refused}`,
    brief(body.replaceAll(/\s+/g, ' ')),
  ])
  return aligned([['AT', 'PATH', 'OUTCOME', 'BODY'], ...rows])
}
