import { Command } from 'commander'
import {
  appCommands,
  demoCommands,
  explainCommand,
  grantCommands,
  jobCommands,
  jsTicketCommand,
  migrateCommand,
  openContext,
  orderCommands,
  partnerCommands,
  productCommands,
  purgeCommand,
  reportFailure,
  sandboxCommands,
  secretCommands,
  signingKeyCommands,
  type Terminal,
  userCommands,
} from './cli/index.ts'
import { DEMO_PRODUCTS, openDemoPartner, removeDemo } from './demo/index.ts'
import { heartbeatWith } from './partner-calls/index.ts'

/** The operator's command line: the operations of the admin routes, on the service's own database. */
export async function runCommand(terminal: Terminal, args: readonly string[]): Promise<void> {
  const context = openContext(terminal)
  const program = new Command('gatehouse')
    .description('Operates Gatehouse. Uses the same settings (environment variables) as the service.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: () => {},
    })

  // One file a group of commands; a further group is one line here.
  appCommands(program, context)
  userCommands(program, context)
  grantCommands(program, context)
  signingKeyCommands(program, context)
  partnerCommands(program, context, heartbeatWith)
  productCommands(program, context)
  orderCommands(program, context)
  sandboxCommands(program, context, { products: DEMO_PRODUCTS, open: openDemoPartner })
  explainCommand(program, context)
  jobCommands(program, context)
  demoCommands(program, context, removeDemo)
  jsTicketCommand(program, context)
  secretCommands(program, context)
  migrateCommand(program, context)
  purgeCommand(program, context)

  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    terminal.exitCode = reportFailure(terminal, error, args.includes('--json'))
  })
}
