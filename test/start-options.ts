import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Options of node in the `start` script; `root` is the top level of the project. */
export function startOptions(root: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return scripts.start.match(/--\S+/g)
}
