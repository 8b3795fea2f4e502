import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Finds the unit tests (`npm run test:unit`): those that need only the sources, judged by their imports. */

export const ROOT = resolve(import.meta.dirname, '..')

/** Signs that a file uses the test server or the built program, or starts a process or a browser. */
const NEEDS_SETUP = /\binject\('|'node:child_process'|'playwright-core'|\/embedded\/|\.build\b/
const IMPORTED = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.[^']+)'/g

/** The text of a file, and of all files below test/ that it imports directly or indirectly. */
function withImports(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found
  const text = readFileSync(file, 'utf8')
  found.set(file, text)
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    const imported = resolve(dirname(file), name)
    if (imported.startsWith(join(ROOT, 'test/')) && statSync(imported, { throwIfNoEntry: false })) {
      withImports(imported, found)
    }
  }
  return found
}

const needsSetup = (file: string): boolean => [...withImports(file).values()].some((text) => NEEDS_SETUP.test(text))

/** Paths relative to the root, such as `test/lib/concurrency-limit.test.ts`. */
export function unitTests(): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(ROOT, 'test', file))
    .filter((file) => !needsSetup(file))
    .map((file) => relative(ROOT, file))
}
