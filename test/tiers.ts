import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Which tests need no more than the sources: these are `npm run test:unit`. Found out from what they import. */

export const ROOT = resolve(import.meta.dirname, '..')

/** Asks for the test server or the built program, or starts a process, a browser too. */
const NEEDS_SETUP = /\binject\('|'node:child_process'|'playwright-core'|\/embedded\/|\.build\b/
const IMPORTED = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.[^']+)'/g

/** A test's file and all files of test/ that it imports, however indirectly. */
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

/** Paths from the root, such as `test/lib/concurrency-limit.test.ts`. */
export function unitTests(): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(ROOT, 'test', file))
    .filter((file) => !needsSetup(file))
    .map((file) => relative(ROOT, file))
}
