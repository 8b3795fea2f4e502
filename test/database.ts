import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { databaseOn, onServer } from './citus.ts'
import { CITUS_URL, leadWholeTo } from './one-table.ts'
import { until } from './until.ts'

/** Migrated when the test run begins; nothing may stay connected to it, or it could not be cloned. */
export const TEMPLATE = 'gatehouse_template'
/** On Citus: a cluster without tables. */
export const EMPTY_TEMPLATE = 'gatehouse_empty_template'

/** A fresh database, cloned from the migrated template; on Citus, one on each node. */
export async function freshDatabase(template = TEMPLATE): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = inject('serverUrl')
  const name = `t_${randomBytes(6).toString('hex')}`
  const onNodes = async (statement: string) => {
    for (const url of [serverUrl, ...inject('workerUrls')]) await onServer(url, statement)
  }
  // Creating and dropping checkpoint all databases, and another test may have filled its disk (test/readiness.test.ts).
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
  await whenDisksAllow(() => onNodes(`create database ${name} template ${template} strategy file_copy`))
  const url = databaseOn(serverUrl, name)
  if (CITUS_URL && template === TEMPLATE) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await leadWholeTo(client, url).finally(() => client.end())
  }
  // A pool that has ended may still be closing its connections. PostgreSQL waits five seconds for them, so try without
  // force first: ending them by force would emit errors that nobody handles any more.
  const byForce = () => onNodes(`drop database if exists ${name} with (force)`)
  // Citus itself stays connected, so there only force works.
  const dropOnce = () => (CITUS_URL ? byForce() : onNodes(`drop database if exists ${name}`).catch(byForce))
  const drop = async () => {
    await whenDisksAllow(dropOnce)
  }
  return { url, drop }
}
