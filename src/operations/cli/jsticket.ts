import type { Command } from 'commander'
import { jsTicket } from '../../authorization/resource/index.ts'
import type { CliContext } from './context.ts'
import { print } from './report.ts'

/** `gatehouse jsticket`: the jsTicket of an access token (REFERENCE "Endpoints of area A", A6); needs no database. */
export function jsTicketCommand(program: Command, { terminal }: CliContext): void {
  program
    .command('jsticket')
    .description('the jsTicket of an access token')
    .argument('<access_token>')
    .option('--json', 'print JSON')
    .action((token: string, { json }: { json?: boolean }) => {
      print(terminal, json === true, { jsTicket: jsTicket(token) }, (output) => output.jsTicket)
    })
}
