import type { Command } from 'commander'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import type { CliContext } from './context.ts'
import { defineMachineCommand } from './operation.ts'

/** Removes the demo (src/demo/remove.ts); passed in, because the command line does not import the demo. */
interface Removed {
  readonly micro_apps: number
  readonly users: number
  readonly partners: number
  readonly partners_kept: number
}

/** `gatehouse demo …`: what `npm start` puts into a database for trying things out. */
export function demoCommands(program: Command, context: CliContext, remove: (deps: Deps) => Promise<Removed>): void {
  const demo = program.command('demo').description('the users, micro-apps and partner that npm start creates')
  const command = demo
    .command('remove')
    .description('delete them with their secrets, sessions and tokens; safe to run again')
  defineMachineCommand(command, context, {
    input: z.strictObject({}),
    inputFrom: () => ({}),
    run: remove,
    text,
  })
}

function text({ micro_apps, users, partners, partners_kept }: Removed): string {
  if (micro_apps + users + partners + partners_kept === 0) return 'this database contains nothing of the demo'
  const kept = partners_kept === 0 ? '' : '\nits partner has orders: it stays, suspended and without secrets or URLs'
  return `removed: ${counted(micro_apps, 'micro-app')}, ${counted(users, 'user')}, ${counted(partners, 'partner')}${kept}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
