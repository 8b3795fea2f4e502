import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { until } from './until.ts'

/** Migrated when the run began; nobody is ever connected to it. */
export const TEMPLATE = 'gatehouse_template'

/** A fresh database, cloned from the migrated template. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = inject('serverUrl')
  const name = `t_${randomBytes(6).toString('hex')}`
  const asAdmin = async (statement: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  // Both make a checkpoint of all databases, and the disk of a neighbour may be full (test/readiness.test.ts).
  const whenDisksAllow = (attempt: () => Promise<void>) =>
    until(() =>
      attempt().then(
        () => true,
        (error: Error) => {
          if (error.message === 'checkpoint request failed') return false
          throw error
        },
      ),
    )
  await whenDisksAllow(() => asAdmin(`create database ${name} template ${TEMPLATE} strategy file_copy`))
  const url = new URL(serverUrl)
  url.pathname = name
  // A pool that has ended still closes its connections: PostgreSQL waits five seconds for these. One that it ends by force
  // meanwhile makes an error that nobody listens to any more.
  const dropOnce = () =>
    asAdmin(`drop database if exists ${name}`).catch(() => asAdmin(`drop database if exists ${name} with (force)`))
  const drop = async () => {
    await whenDisksAllow(dropOnce)
  }
  return { url: url.href, drop }
}
