import { Command } from 'commander'
import { appCommands } from './cli/app.ts'
import { openContext } from './cli/context.ts'
import { demoCommands } from './cli/demo.ts'
import { grantCommands } from './cli/grant.ts'
import { jobCommands } from './cli/job.ts'
import { jsTicketCommand } from './cli/jsticket.ts'
import { migrateCommand } from './cli/migrate.ts'
import { orderCommands } from './cli/order.ts'
import { partnerCommands } from './cli/partner.ts'
import { productCommands } from './cli/product.ts'
import { purgeCommand } from './cli/purge.ts'
import { reportFailure } from './cli/report.ts'
import { sandboxCommands } from './cli/sandbox.ts'
import { secretCommands } from './cli/secret.ts'
import type { Terminal } from './cli/terminal.ts'
import { userCommands } from './cli/user.ts'
import { removeDemo } from './demo/remove.ts'
import { DEMO_PRODUCTS, openDemoPartner } from './demo/sandbox-part.ts'
import { heartbeatWith } from './partner-calls/test-call.ts'

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
  partnerCommands(program, context, heartbeatWith)
  productCommands(program, context)
  orderCommands(program, context)
  sandboxCommands(program, context, { products: DEMO_PRODUCTS, open: openDemoPartner })
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
