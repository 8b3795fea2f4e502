import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { Fleet, startTraffic } from '../acceptance/fleet.ts'
import { httpWire } from '../acceptance/http.ts'
import { makeSeller, SIGNATURE_TEST, send } from '../acceptance/seller.ts'
import { type RunningProcess, SECRET_KEY, startProcess } from '../acceptance/system.ts'
import { dumpVersion, type Server, serverFor } from './dump-server.ts'

/** OPERATIONS "Backups": a dump made while the service runs and SECRET_KEY are all that another server needs. */

const PUBLIC_URL = 'http://gatehouse.test'

async function serviceOn({ databaseUrl }: Server): Promise<RunningProcess> {
  const running = await startProcess({ DATABASE_URL: databaseUrl, SECRET_KEY, PUBLIC_URL, DEMO: 'off' })
  onTestFinished(async () => {
    if (running.child.exitCode === null) await running.stop()
  })
  return running
}

async function started(start: () => Promise<Server>): Promise<Server> {
  const server = await start()
  onTestFinished(() => server.stop())
  return server
}

it('a dump made under load is restored into an empty server, and tokens and secrets keep working', async (context) => {
  const version = dumpVersion()
  const start = version === undefined ? undefined : serverFor(version)
  if (!start) {
    const why =
      version === undefined ? 'pg_dump is not installed' : `pg_dump is of version ${version}, older than the server`
    process.stderr.write(`SKIPPED: back up and restore; ${why} (apt-get install postgresql)\n`)
    return context.skip()
  }
  const [before, after] = [await started(start), await started(start)]
  const first = await serviceOn(before)
  const client = new Client(httpWire(first.origin), PUBLIC_URL)
  const user = await client.makeUser()
  const app = await client.makeApp()
  const browser = await client.signedIn(user, app)
  const tokens = await client.getTokens(browser, app)
  const seller = await makeSeller(client)
  const traffic = await startTraffic(new Fleet([first]), before, PUBLIC_URL)
  await traffic.goneRound()

  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-dump-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dump = join(folder, 'gatehouse.dump')
  execFileSync('pg_dump', ['--format=custom', `--file=${dump}`, before.databaseUrl])
  await traffic.stop()
  expect(traffic.failures).toEqual([])
  await first.kill()
  execFileSync('pg_restore', ['--exit-on-error', '--no-owner', `--dbname=${after.databaseUrl}`, dump])

  const second = await serviceOn(after)
  const again = new Client(httpWire(second.origin), PUBLIC_URL)
  dataOf(await again.userInfo(tokens.access_token))
  tokenSetOf(await again.refresh(app, tokens.refresh_token))
  const signed = await send(second.origin, seller, { path: SIGNATURE_TEST, body: '{}' })
  expect(signed.text).toContain('"code":200')
  const walk = await startTraffic(new Fleet([second]), after, PUBLIC_URL)
  await walk.goneRound()
  await walk.stop()
  expect(walk.failures).toEqual([])
  expect(second.output()).not.toMatch(/ERROR|FATAL/)
})
