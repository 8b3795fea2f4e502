import { Command } from 'commander'
import { openDemoPartner, removeDemo } from './demo/index.ts'
import { ALL_ACTIONS } from './operations/actions/index.ts'
import {
  actionCommands,
  type CliContext,
  demoCommands,
  importCommand,
  jsTicketCommand,
  migrateCommand,
  openContext,
  purgeCommand,
  reportFailure,
  resealCommand,
  sandboxCommands,
  secretCommands,
  type Terminal,
} from './operations/cli/index.ts'
import { DEMO_PRODUCTS } from './sandbox/portal/index.ts'

/**
 * The operator's command line: the operations of the admin routes, on the service's own database, or with GATEHOUSE_URL and
 * GATEHOUSE_TOKEN over those routes.
 */
export function programOf(context: CliContext): Command {
  const { terminal } = context
  const program = new Command('gatehouse')
    .description(
      'Operates Gatehouse. Uses the same settings (environment variables) as the service; or, with GATEHOUSE_URL and GATEHOUSE_TOKEN, the admin API of a running one.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: () => {},
    })

  // One file a group of commands; a further group is one line here.
  sandboxCommands(program, context, { products: DEMO_PRODUCTS, open: openDemoPartner })
  actionCommands(program, context, ALL_ACTIONS, { user_import: importCommand })
  demoCommands(program, context, removeDemo)
  jsTicketCommand(program, context)
  secretCommands(program, context)
  migrateCommand(program, context)
  purgeCommand(program, context)
  resealCommand(program, context)
  return program
}

/** Carries out the command that these words are. */
export async function runCommand(terminal: Terminal, args: readonly string[]): Promise<void> {
  const program = programOf(openContext(terminal))
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    terminal.exitCode = reportFailure(terminal, error, args.includes('--json'))
  })
}
