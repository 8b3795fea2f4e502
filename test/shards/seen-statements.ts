import pg from 'pg'
import { Seen } from '../db/seen.ts'

/** A statement that was sent, with startup options for a connection that finds the same tables. */
interface SeenStatement {
  readonly text: string
  readonly values: unknown[]
  readonly options: string
}

const ABOUT_ROWS = /^\s*(with|select|insert|update|delete)\b/i
const SETS = /^select set_config/
const PATH = /set_config\('search_path'/

interface Asked {
  readonly text?: string
  readonly values?: unknown[]
}

/** Records the statements of all connections of this process. */
export function watchStatements() {
  const seen = new Seen<SeenStatement>()
  /** The search_path set by a transaction that involves several shards. */
  const paths = new WeakMap<pg.Client, string>()
  function statementOf(client: pg.Client, { text, values = [] }: Asked): SeenStatement | undefined {
    if (text === undefined) return undefined
    if (PATH.test(text)) paths.set(client, String(values[0]))
    if (!ABOUT_ROWS.test(text) || SETS.test(text)) return undefined
    const path = paths.get(client)
    const { options = '' } = (client as unknown as { connectionParameters: { options?: string } }).connectionParameters
    return {
      text,
      values,
      options: path === undefined ? options : `${options} -c search_path=${path.replaceAll(' ', '')}`,
    }
  }
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [asked] = given as [Asked | string]
    if (asked === 'begin') paths.delete(this)
    if (typeof asked === 'object') seen.add(() => statementOf(this, asked))
    return (query as (...all: unknown[]) => unknown).apply(this, given)
  } as typeof query

  return {
    during: (work: () => Promise<unknown>) => seen.during(work),
    stop: () => {
      pg.Client.prototype.query = query
    },
  }
}
