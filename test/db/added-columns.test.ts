import { afterAll, beforeAll, expect, it } from 'vitest'
import { ALICE, Client, DEMO_APP, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { type System, startSystem } from '../acceptance/system.ts'
import { ADMIN_TOKEN } from '../harness.ts'

/** A migration adds columns while the service runs: no request fails because of statements prepared before. */

let system: System
let client: Client
beforeAll(async () => {
  system = await startSystem({ DEMO: 'on' })
  client = new Client(httpWire(system.origin), system.origin)
})
afterAll(() => system.stop())

async function useEverything(): Promise<void> {
  const alice = await client.signedIn(ALICE)
  const { access_token, refresh_token } = await client.getTokens(alice, DEMO_APP)
  dataOf(await client.userInfo(access_token))
  dataOf(await client.phone(access_token))
  tokenSetOf(await client.refresh(DEMO_APP, refresh_token))
  for (const list of ['apps', 'partners', 'jobs']) {
    const answer = await fetch(`${system.origin}/admin/v1/${list}`, {
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    expect(answer.status).toBe(200)
  }
}

it('adding columns to every table makes no request fail', async () => {
  for (let round = 0; round < 3; round++) await useEverything() // on several connections
  const tables = await system.query(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(20)
  for (const { name } of tables)
    await system.query(`alter table ${name} add column added_while_running text default 'x'`)
  for (let round = 0; round < 3; round++) await useEverything()
  expect(system.processes[0]?.output()).not.toContain('cached plan')
})
