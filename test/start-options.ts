import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Node's options in the `start` script; `root` is the folder of the project. */
export function startOptions(root: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return scripts.start.match(/--\S+/g)
}

/** V8 optimizes only code that runs very often, not what a start does a few times, and rarely collects garbage. */
const BRIEF_V8 = ['--interrupt-budget=500000', '--min-semi-space-size=16', '--no-verify-snapshot-checksum']

/**
 * Options for a process that lives for seconds. Those of the `start` script save memory and map stack traces to sources,
 * but a start costs 1.5 s of CPU with them and 1.1 s with these (Node 20). No package is a symlink, so links need not be
 * resolved.
 */
export const SHORT_LIVED: readonly string[] = [
  '--preserve-symlinks',
  ...(Number.parseInt(process.versions.node, 10) < 22 ? BRIEF_V8 : []),
]
