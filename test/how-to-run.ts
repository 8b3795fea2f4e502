import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** A reporter that ends the log of a failed run with a command for each failing test, to run it alone. */

const MAX_COMMANDS = 20
const ROOT = new URL('..', import.meta.url).pathname

/** `text` quoted as one shell word. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const asPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** False for a file whose process ended before the file was finished. */
const isEnded = (module: TestModule): boolean => !['queued', 'pending'].includes(module.state())

export function commandsFor(modules: readonly TestModule[]): string[] {
  return modules
    .filter((module) => !module.ok() || !isEnded(module))
    .flatMap((module) => {
      const run = `npx vitest run --config test/vitest.config.ts ${relative(ROOT, module.moduleId)}`
      const failed = [...module.children.allTests('failed')]
      // Without a failed test, the file itself or one of its hooks failed.
      if (failed.length === 0) return [run]
      return failed.map((test) => {
        const names = [test.name]
        for (let above = test.parent; above.type === 'suite'; above = above.parent) names.unshift(above.name)
        return `${run} -t ${quoted(`^${asPattern(names.join(' '))}$`)}`
      })
    })
}

export class HowToRun implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const commands = commandsFor(modules)
    if (commands.length === 0) return
    const more = commands.length > MAX_COMMANDS ? [`… and ${commands.length - MAX_COMMANDS} more`] : []
    process.stderr.write(`\nTo run what failed alone:\n${[...commands.slice(0, MAX_COMMANDS), ...more].join('\n')}\n\n`)
  }
}
