import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PROGRAMS as SHOWN_PROGRAMS, settingsOf } from '../../../src/authorization/developer/quickstart.ts'
import { ALICE, Client } from '../../acceptance/client.ts'
import { httpWire } from '../../acceptance/http.ts'
import { sharedSystem } from '../../acceptance/system.ts'
import { freePort } from '../../free-port.ts'
import { browsing } from '../../sandbox/browse.ts'
import { until } from '../../until.ts'
import { runProgram } from '../run-program.ts'
import { PROGRAMS, type Program } from './programs.ts'

/**
 * Existing programs with the settings that /connect shows sign a person in, in a browser that enforces page policies.
 */

const FOLDER = new URL('./', import.meta.url).pathname
const FETCH_MS = 300_000
const PHONE = { size: 'phone', locale: 'en' } as const

const browsers = browsing()

let origin: string
let platform: Client
let folder: string
/** The application behind a proxy; it shows the request headers that it gets. */
let echoApp: Server
beforeAll(async () => {
  origin = (await sharedSystem()).origin
  platform = new Client(httpWire(origin), origin)
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-programs-'))
  echoApp = createServer((request, response) => response.end(JSON.stringify(request.headers))).listen(0, '127.0.0.1')
  await once(echoApp, 'listening')
})
afterAll(() => {
  echoApp.close()
  rmSync(folder, { recursive: true, force: true })
})

const notRun = (id: string, reason: string): string => {
  const note = `NOT RUN: ${id}, because ${reason}`
  process.stderr.write(`${note}\n`)
  return note
}

class Running {
  readonly origin: string
  output = ''
  readonly #child: ChildProcess

  private constructor(program: Program, child: ChildProcess, port: number) {
    this.origin = `http://127.0.0.1:${port}`
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        this.output += text
      })
    }
    child.once('error', (error) => {
      this.output += `${program.id}: ${error}`
    })
  }

  /** Resolves once the program listens, or with the reason why it cannot run here. */
  static async start(program: Program): Promise<Running | string> {
    const missing = program.missing()
    if (missing) return missing
    const programFolder = mkdtempSync(join(folder, `${program.id}-`))
    const environment = { ...process.env, ...program.environment?.(programFolder) }
    if (program.beside) cpSync(join(FOLDER, program.beside), programFolder, { recursive: true })
    for (const command of program.fetch(programFolder)) {
      const { problem } = await runProgram(command, { folder: programFolder, environment, limitMs: FETCH_MS })
      if (problem) return `it could not be fetched:\n${problem}`
    }
    const port = await freePort()
    const site = `http://127.0.0.1:${port}`
    const callback = SHOWN_PROGRAMS.find(({ id }) => id === program.id)?.callback
    const app = await platform.makeApp({ redirect_uris: [site + callback], http_allowed: true })
    const place = { folder: programFolder, port, applicationPort: (echoApp.address() as AddressInfo).port }
    const values = { issuer: origin, clientId: app.app_key, clientSecret: app.app_secret }
    const settings = settingsOf(program.id, values)
      .replaceAll('https://app.example.com', site)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${place.applicationPort}`)
    for (const [name, content] of Object.entries(program.files(settings, place)))
      writeFileSync(join(programFolder, name), content)
    for (const command of program.prepare?.(programFolder) ?? []) {
      const { problem } = await runProgram(command, { folder: programFolder, environment, limitMs: FETCH_MS })
      if (problem) throw new Error(problem)
    }
    const [name, ...argv] = program.start(place)
    const child = spawn(name, argv, { cwd: programFolder, env: environment })
    // Killed at the end of the test run at the latest (test/global-setup.ts).
    if (child.pid) writeFileSync(join(inject('processesFolder'), String(child.pid)), '')
    const running = new Running(program, child, port)
    await until(async () => {
      if (child.exitCode !== null || child.pid === undefined) throw new Error(`it has ended: ${running.output}`)
      return fetch(site, { redirect: 'manual' }).then(
        () => true,
        () => false,
      )
    })
    return running
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill()
    await ended
  }
}

describe.each(PROGRAMS)('$id', (program) => {
  let running: Running | string
  beforeAll(async () => {
    running = await Running.start(program)
  })
  afterAll(async () => {
    if (typeof running !== 'string') await running?.stop()
  })

  async function signIn(consent: 'asked' | 'remembered'): Promise<void> {
    const { origin: site, output } = running as Running
    const page = await browsers.open(`${site}/`, PHONE)
    if (program.button) await page.click(program.button)
    await page.fill('#passport', ALICE.passport)
    await page.fill('#password', ALICE.password)
    await page.click('main button[type=submit]')
    if (consent === 'asked') await page.click('button[value=approve]')
    await page.waitForURL(`${site}/`).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await page.textContent('body')}\n${output}`)
    })
    const shown = (await page.textContent('body')) ?? ''
    expect(program.header ? JSON.parse(shown)[program.header] : shown.trim()).toBe('1-10001')
  }

  it('signs a person in', async (context) => {
    if (typeof running === 'string') return context.skip(notRun(program.id, running))
    await signIn('asked')
  })

  it('signs the same person in from another browser without asking for consent again', async (context) => {
    if (typeof running === 'string') return context.skip()
    await signIn('remembered')
  })
})
