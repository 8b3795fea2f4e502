import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../acceptance/browser.ts'
import { httpWire } from '../acceptance/http.ts'
import { say, withEndings } from '../bench/command.ts'
import { ROOT } from '../bench/contestants/contestant.ts'
import { newDataFolder, removeDataFolder } from '../bench/data-folder.ts'
import { startService } from '../chaos/service.ts'
import { freePort } from '../free-port.ts'
import { isInstalled } from '../is-installed.ts'
import { visit } from '../oidc/person.ts'
import { LANGUAGES, type Language } from './languages.ts'
import { demoValues, OTHERS, type Outcome, runQuickstart, shownOfAlice } from './quickstart/quickstart.ts'
import { type Place, runProgram } from './run-program.ts'

/** `npm run interop`: libraries of other languages against the built service; see README.md beside this file. */

const ALICE = { passport: 'alice', password: 'alice-password' }
const CLIENT = { CLIENT_ID: 'demo-oidc', CLIENT_SECRET: 'demo-oidc-secret-for-local-use-only' }
const REDIRECT_URI = 'http://127.0.0.1:54321/callback'
const FETCH_MS = 300_000
/** `go run` compiles first, which took longer than three minutes on a busy machine. */
const RUN_MS = 600_000

const indented = (text: string): string => text.replace(/^/gm, '      ')

interface Result {
  readonly ran: number
  readonly failed: number
}

async function runLanguage(language: Language, origin: string, folder: string): Promise<Result> {
  const skip = (reason: string): Result => {
    say(`NOT RUN  ${language.name}: ${reason}`)
    return { ran: 0, failed: 0 }
  }
  const missing = language.needs.find((program) => !isInstalled(program))
  if (missing) return skip(`this machine has no ${missing}`)
  mkdirSync(folder)
  const environment = { ...process.env, ...CLIENT, ISSUER: origin, REDIRECT_URI, ...language.environment?.(folder) }
  const place: Omit<Place, 'limitMs'> = { folder: join(ROOT, 'test', 'interop', language.name), environment }
  for (const command of language.fetch(folder)) {
    const { problem } = await runProgram(command, { ...place, limitMs: FETCH_MS })
    if (problem) return skip(`its libraries could not be fetched\n${indented(problem)}`)
  }
  const programs = Object.entries(language.programs(folder))
  let failed = 0
  for (const [name, command] of programs) {
    const { problem, steps } = await runProgram(command, { ...place, limitMs: RUN_MS }, (url) =>
      signInAlice(origin, url),
    )
    say(`${problem ? 'FAILED  ' : 'ran     '} ${language.name}: ${name}`)
    for (const step of steps) say(indented(step))
    if (!problem) continue
    failed++
    say(indented(`then: ${problem}`))
  }
  return { ran: programs.length, failed }
}

async function signInAlice(origin: string, url: string): Promise<string> {
  const { location } = await visit(new Browser(httpWire(origin), origin), url, { user: ALICE })
  return location.href
}

/** Runs the programs of the page "Connect in five minutes" exactly as shown there. */
async function runQuickstarts(origin: string, folder: string): Promise<Result[]> {
  const results: Result[] = []
  for (const id of OTHERS) {
    const name = `the quickstart's program for ${id}`
    const programFolder = join(folder, `quickstart-${id}`)
    mkdirSync(programFolder)
    const place = {
      root: ROOT,
      folder: programFolder,
      values: demoValues(id, origin),
      port: await freePort(),
      visit: (url: string) => signInAlice(origin, url),
    }
    const failed = (error: Error) => ({ problem: error.message })
    const outcome = await runQuickstart(id, place).catch(failed)
    const problem = 'problem' in outcome ? outcome.problem : problemOf(id, outcome)
    if ('skipped' in outcome) say(`NOT RUN  ${name}: ${outcome.skipped}`)
    else say(`${problem ? 'FAILED  ' : 'ran     '} ${name}`)
    if (problem) say(indented(problem))
    results.push('skipped' in outcome ? { ran: 0, failed: 0 } : { ran: 1, failed: problem ? 1 : 0 })
  }
  return results
}

const problemOf = (id: string, { skipped, shown = '' }: Outcome): string | undefined =>
  skipped || shownOfAlice(id).test(shown) ? undefined : `it does not show who Alice is, but:\n${shown}`

async function interop(names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !LANGUAGES.some((language) => language.name === name))
  if (unknown)
    throw new Error(`there is no language ${unknown}; there are: ${LANGUAGES.map(({ name }) => name).join()}`)
  await withEndings(async (endings) => {
    const folder = newDataFolder()
    endings.add(() => removeDataFolder(folder))
    const service = await startService({ checkout: ROOT, folder, settings: { DATA_DIR: folder } })
    endings.add(() => service.stop())
    const wanted = LANGUAGES.filter(({ name }) => names.length === 0 || names.includes(name))
    const results: Result[] = []
    for (const language of wanted) {
      results.push(await runLanguage(language, `http://localhost:${service.port}`, join(folder, language.name)))
    }
    if (names.length === 0) results.push(...(await runQuickstarts(`http://localhost:${service.port}`, folder)))
    const sum = (of: keyof Result) => results.reduce((total, result) => total + result[of], 0)
    const skipped = results.filter(({ ran }) => ran === 0).length
    say(`\n${sum('ran')} programs ran, ${sum('failed')} failed; languages that did not run: ${skipped}`)
    if (sum('failed') > 0) process.exitCode = 1
  })
  // The starters that sellers download and the snippets that they copy.
  if (names.length === 0) execFileSync('npm', ['run', '--silent', 'test:languages'], { cwd: ROOT, stdio: 'inherit' })
}

try {
  await interop(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exitCode = 1
}
