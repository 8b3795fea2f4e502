import { Command } from 'commander'
import { openDemoPartner, removeDemo } from './demo/index.ts'
import { ALL_ACTIONS } from './operations/actions/index.ts'
import {
  actionCommands,
  type CliContext,
  importCommand,
  machineCommands,
  openContext,
  reportFailure,
  sandboxCommands,
  type Terminal,
} from './operations/cli/index.ts'
import { createFirstOperator } from './operations/operators/index.ts'
import { verifyAudit } from './platform/audit/index.ts'
import type { Clock } from './platform/lib/clock.ts'
import { parseInput } from './platform/lib/json/input.ts'
import { VERSION } from './platform/lib/version.ts'
import { DEMO_PRODUCTS } from './sandbox/portal/index.ts'

/**
 * The operator's command line: requests to a running service, or what needs no service but its database. Of the
 * commands for actions, only the one that `args` name has its options, all if they name none.
 */
export function programOf(context: CliContext, args: readonly string[] = []): Command {
  const { terminal } = context
  const program = new Command('gatehouse')
    .description(
      'Operates Gatehouse: asks the service of this machine, which it finds by the same settings (environment variables); or, with GATEHOUSE_URL and GATEHOUSE_TOKEN, one elsewhere.',
    )
    .version(VERSION, '--version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: () => {},
    })

  sandboxCommands(program, context, { products: DEMO_PRODUCTS, open: openDemoPartner })
  actionCommands(program, context, ALL_ACTIONS, args, {
    own: { user_import: importCommand },
    // Verified here, not by the service that writes the log; old keys are accepted, and there is no time limit.
    onDatabase: { audit_verify: (deps, given) => verifyAudit(deps, parseInput(verifyAudit.input, given)) },
    withoutService: {
      operator_create: (deps, given) => createFirstOperator(deps, parseInput(createFirstOperator.input, given)),
    },
  })
  machineCommands(program, context, removeDemo)
  return program
}

/** Runs one command; a failure is reported and sets the exit code. */
export async function runCommand(terminal: Terminal, args: readonly string[], clock?: Clock): Promise<void> {
  const program = programOf(openContext(terminal, clock), args)
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    terminal.exitCode = reportFailure(terminal, error, args.includes('--json'))
  })
}
