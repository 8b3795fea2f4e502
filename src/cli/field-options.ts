import type { Command } from 'commander'
import { numberIfOne } from './text.ts'

/** Both options together identify a user, never one of the two alone. */
export const keyed = (command: Command): Command =>
  command
    .option('--cid <cid>', 'with --user-id identifies one user', numberIfOne)
    .option('--user-id <id>', 'with --cid identifies one user')

export const keyOf = (options: Readonly<Record<string, unknown>>) => ({ cid: options.cid, user_id: options.userId })
