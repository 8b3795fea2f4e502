import pg from 'pg'

/** A statement that was sent, with the startup options of a connection that would find the same tables. */
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

/** Listens to all connections of this process. */
export function watchStatements() {
  const seen: SeenStatement[] = []
  let watching = false
  /** Of transactions about people of several shards. */
  const paths = new WeakMap<pg.Client, string>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [asked] = given as [Asked | string]
    if (asked === 'begin') paths.delete(this)
    if (watching && typeof asked === 'object' && asked.text !== undefined) {
      const { text, values = [] } = asked
      if (PATH.test(text)) paths.set(this, String(values[0]))
      const path = paths.get(this)
      const { options = '' } = (this as unknown as { connectionParameters: { options?: string } }).connectionParameters
      const there = path === undefined ? options : `${options} -c search_path=${path.replaceAll(' ', '')}`
      if (ABOUT_ROWS.test(text) && !SETS.test(text)) seen.push({ text, values, options: there })
    }
    return (query as (...all: unknown[]) => unknown).apply(this, given)
  } as typeof query

  return {
    /** What was sent while `work` ran. */
    async during(work: () => Promise<unknown>): Promise<SeenStatement[]> {
      seen.length = 0
      watching = true
      await work().finally(() => {
        watching = false
      })
      return [...seen]
    },
    stop: () => {
      pg.Client.prototype.query = query
    },
  }
}
