import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Options of node in the `start` script; `root` is the top level of the project. */
export function startOptions(root: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return scripts.start.match(/--\S+/g)
}

/**
 * Options for a process that lives for seconds: V8 optimizes what really runs often and leaves alone what only the start
 * does a few times, a seventh of a start under Node 20 (1.78 → 1.53 s of CPU).
 */
export const SHORT_LIVED: readonly string[] =
  Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=500000'] : []
