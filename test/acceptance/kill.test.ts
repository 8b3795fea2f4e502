import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALICE, Client, DEMO_APP, dataOf, type TokenSet, tokenSetOf } from './client.ts'
import { consentForm } from './form.ts'
import { httpWire } from './http.ts'
import { type RunningProcess, startProcess } from './system.ts'

/** Issue 2, "It shows" 7: the service with its own PostgreSQL is killed outright, and starts again. */

let folder: string
let running: RunningProcess

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'))
  chmodSync(folder, 0o755)
  running = await startProcess({ DATA_DIR: folder })
})
afterAll(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const clientOf = ({ origin }: RunningProcess) => new Client(httpWire(origin), origin)

async function killAndStartAgain(): Promise<Client> {
  await running.kill()
  running = await startProcess({ DATA_DIR: folder })
  return clientOf(running)
}

describe('after kill -9 and a new start', () => {
  it('session, code and tokens that were acknowledged still work', async () => {
    const before = clientOf(running)
    const browser = await before.signedIn(ALICE)
    const used = await before.getCode(browser, DEMO_APP)
    const tokens = tokenSetOf(await before.exchange(DEMO_APP, used))
    const unused = await before.getCode(browser, DEMO_APP)
    const app = await before.makeApp()

    const after = await killAndStartAgain()
    const cookies = after.newBrowser()
    for (const [name, value] of browser.cookies) cookies.cookies.set(name, value)
    const page = await cookies.open(after.authorizePath(after.request(DEMO_APP)))
    expect(consentForm(page.text), 'the session is alive: no sign-in').toBeDefined()
    tokenSetOf(await after.exchange(DEMO_APP, unused))
    expect((await after.exchange(DEMO_APP, used)).text).toContain('"rescode":20013')
    dataOf(await after.userInfo(tokens.access_token))
    dataOf(await after.phone(tokens.access_token))
    tokenSetOf(await after.refresh(DEMO_APP, tokens.refresh_token))
    tokenSetOf(await after.exchange(app, await after.getCode(cookies, app)))
  })

  it('whatever was answered in the midst of the work still holds', async () => {
    const before = clientOf(running)
    const browser = await before.signedIn(ALICE)
    const acknowledged: TokenSet[] = []
    const unanswered: { code: string; state: string }[] = []
    let over = false
    const worker = async () => {
      while (!over) {
        const consented = await before.getCode(browser, DEMO_APP).catch(() => undefined)
        if (!consented) return
        const answer = await before.exchange(DEMO_APP, consented).catch(() => undefined)
        if (answer?.text.startsWith('{"rescode":0')) acknowledged.push(tokenSetOf(answer))
        else unanswered.push(consented)
      }
    }
    const workers = Array.from({ length: 8 }, worker)
    while (acknowledged.length < 40) await new Promise((passed) => setTimeout(passed, 10))
    const after = await killAndStartAgain()
    over = true
    await Promise.all(workers)
    for (const { access_token } of acknowledged) dataOf(await after.userInfo(access_token))
    for (const consented of unanswered) {
      const { rescode } = JSON.parse((await after.exchange(DEMO_APP, consented)).text)
      expect([0, 20013]).toContain(rescode)
    }
    process.stdout.write(
      `kill -9 in the midst of work: ${acknowledged.length} acknowledged token sets alive, ${unanswered.length} exchanges cut off\n`,
    )
  })
})

describe('when its PostgreSQL alone is killed', () => {
  it('it comes back by itself', async () => {
    const client = clientOf(running)
    const tokens = await client.getTokens(await client.signedIn(ALICE), DEMO_APP)
    const pid = Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)
    process.kill(pid, 'SIGKILL')
    const statuses = new Set<number>()
    for (let waited = 0; waited < 200; waited++) {
      const answer = await client.userInfo(tokens.access_token)
      statuses.add(answer.status)
      if (answer.status === 200 && statuses.size > 1) break
      expect([200, 503]).toContain(answer.status)
      await new Promise((passed) => setTimeout(passed, 50))
    }
    dataOf(await client.userInfo(tokens.access_token))
  })
})
