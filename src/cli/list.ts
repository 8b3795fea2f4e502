import { once } from 'node:events'
import type { Command } from 'commander'
import { stringify } from 'lossless-json'
import type { ServiceDeps } from '../jobs/index.ts'
import { parseInput } from '../lib/json/input.ts'
import type { CliContext } from './context.ts'
import { defineCustomCommand, type Operation } from './operation.ts'
import { askRemote, routeOf } from './remote.ts'
import { print } from './report.ts'
import { printableJson } from './text.ts'

interface List<Filter, Plural extends string, Row>
  extends Pick<Operation<Filter, unknown>, 'input' | 'inputFrom' | 'flags' | 'route'> {
  /** What the rows are called in the output: `users`. */
  readonly plural: Plural
  readonly page: (deps: ServiceDeps, filter: Filter) => Promise<Record<Plural, Row[]> & { next: string | null }>
  readonly table: (rows: readonly Row[]) => string
  /** Rows of a page if not said otherwise. */
  readonly usual?: number
}

/**
 * Makes a command print a page of a list: `--limit` and `--after` choose it, and `next` (a line below the table) is the
 * `--after` of the following page. `--all` prints every row of every page as a line of JSON.
 */
export function defineListCommand<Filter extends object, Plural extends string, Row>(
  command: Command,
  context: CliContext,
  { plural, page, table, usual = 100, input, inputFrom, flags, route }: List<Filter, Plural, Row>,
): Command {
  command
    .option('--limit <number>', `rows of a page, at most 1000 (default: ${usual})`)
    .option('--after <cursor>', 'next page: the `next` value of the previous page')
    .option('--all', 'print every page, one JSON object per line')
  const withPage: typeof inputFrom = async (options, argument) => ({
    ...(await inputFrom(options, argument)),
    limit: options.all ? (options.limit ?? '1000') : options.limit,
    after: options.after,
  })
  return defineCustomCommand(
    command,
    { input, inputFrom: withPage, ...(flags ? { flags } : {}) },
    async (first, json, typedIn) => {
      const all = command.opts().all === true
      const printPages = async (read: (filter: Filter, fields: object) => ReturnType<typeof page>): Promise<void> => {
        let [asked, fields]: [Filter, Readonly<Record<string, unknown>>] = [first, typedIn]
        for (;;) {
          const found = await read(asked, fields)
          if (!all) return print(context.terminal, json, found, (shown) => pageText(table(shown[plural]), shown.next))
          for (const row of found[plural]) await write(context, `${printableJson(stringify(row) ?? '')}\n`)
          if (found.next === null) return
          fields = { ...typedIn, after: found.next }
          asked = parseInput(input, fields)
        }
      }
      const { remote } = context
      if (!remote) return context.withDeps((deps) => printPages((filter) => page(deps, filter)))
      await printPages((_filter, fields) =>
        askRemote(remote, route?.({ ...fields }) ?? { route: routeOf(command), fields: { ...fields } }),
      )
    },
  )
}

const pageText = (text: string, next: string | null): string =>
  next === null ? text : `${text}\nmore: --after ${next}`

/** Waits for a reader that is slower than the database. */
async function write({ terminal }: CliContext, line: string): Promise<void> {
  if (!terminal.stdout.write(line)) await once(terminal.stdout, 'drain')
}
