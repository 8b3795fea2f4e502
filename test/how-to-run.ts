import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Ends the log of a run that failed with the commands that run each failing test alone. */

const MOST = 20
const ROOT = new URL('..', import.meta.url).pathname

/** `text` as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const asPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Not of a file whose process ended in its midst. */
const isEnded = (module: TestModule): boolean => !['queued', 'pending'].includes(module.state())

export function commandsFor(modules: readonly TestModule[]): string[] {
  return modules
    .filter((module) => !module.ok() || !isEnded(module))
    .flatMap((module) => {
      const run = `npx vitest run --config test/vitest.config.ts ${relative(ROOT, module.moduleId)}`
      const failed = [...module.children.allTests('failed')]
      // Without a failed test it is the file itself, or what is done before and after its tests.
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
    const more = commands.length > MOST ? [`… and ${commands.length - MOST} more`] : []
    process.stderr.write(`\nTo run what failed alone:\n${[...commands.slice(0, MOST), ...more].join('\n')}\n\n`)
  }
}
