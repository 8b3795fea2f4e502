import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import {
  CONTRACT_LANGUAGES,
  type ContractValues,
  SERVER_LANGUAGES,
  snippetOf,
} from '../../../src/authorization/developer/quickstart.ts'
import { isInstalled } from '../../is-installed.ts'

/** Runs the programs of "Connect in five minutes" as a developer would. */

type Command = readonly [program: string, ...argv: string[]]

interface Program {
  /** Programs that have to be on the PATH. */
  readonly needs: readonly string[]
  /** The file to write the snippet to, below the program's own folder. */
  readonly file: string
  /** A folder beside this file whose contents are copied first. */
  readonly beside?: string
  /** Downloads the libraries; if that fails, the program is not run. */
  readonly fetch?: (folder: string) => readonly Command[]
  readonly build?: (folder: string) => readonly Command[]
  readonly start: (folder: string, port: number) => Command
  readonly environment?: (folder: string) => Readonly<Record<string, string>>
  /** The reason why it is never run. */
  readonly never?: string
}

const inVenv = (folder: string, name: string): string => join(folder, 'venv', 'bin', name)

const maven = (folder: string): Command => [
  'mvn',
  '--batch-mode',
  '--quiet',
  `-Dmaven.repo.local=${join(folder, 'repository')}`,
]

const PROGRAMS: Readonly<Record<string, Program>> = {
  // Its library is a dependency of this project.
  node: { needs: ['node'], file: 'app.mjs', start: () => ['node', 'app.mjs'] },
  python: {
    needs: ['python3'],
    file: 'app.py',
    beside: 'python',
    fetch: (folder) => [
      ['python3', '-m', 'venv', join(folder, 'venv')],
      [inVenv(folder, 'pip'), 'install', '--quiet', '--requirement', 'requirements.txt'],
    ],
    start: (folder, port) => [inVenv(folder, 'flask'), 'run', '--port', String(port)],
  },
  go: {
    needs: ['go'],
    file: 'main.go',
    beside: 'go',
    fetch: () => [['go', 'mod', 'download']],
    build: () => [['go', 'build', '-mod=readonly', '-o', 'app', '.']],
    start: (folder) => [join(folder, 'app')],
    // Modules are read-only files; the flag lets the folder be deleted.
    environment: (folder) => ({
      GOPATH: join(folder, 'go'),
      GOCACHE: join(folder, 'cache'),
      GOFLAGS: '-modcacherw',
    }),
  },
  java: {
    needs: ['java', 'mvn'],
    file: 'src/main/java/app/App.java',
    beside: 'java',
    fetch: (folder) => [[...maven(folder), 'dependency:go-offline']],
    build: (folder) => [[...maven(folder), 'package']],
    start: () => ['java', '-jar', 'target/app-1.jar'],
  },
  php: {
    needs: ['php', 'composer'],
    file: 'index.php',
    fetch: () => [['composer', 'require', '--quiet', '--no-interaction', 'league/oauth2-client']],
    start: (_folder, port) => ['php', '-S', `127.0.0.1:${port}`, 'index.php'],
  },
  csharp: {
    needs: ['dotnet'],
    file: 'Program.cs',
    start: () => ['dotnet', 'run'],
    never: 'it has no project file yet',
  },
  'contract-node': { needs: ['node'], file: 'app.mjs', start: () => ['node', 'app.mjs'] },
  'contract-python': { needs: ['python3'], file: 'app.py', start: () => ['python3', 'app.py'] },
}

/** Programs that need nothing but npm packages. */
export const OF_NPM = ['node', 'contract-node']
export const OTHERS = [...SERVER_LANGUAGES, ...CONTRACT_LANGUAGES]
  .map(({ id }) => id)
  .filter((id) => !OF_NPM.includes(id))

/** The credentials and addresses of the demo at this origin. */
export const demoValues = (id: string, origin: string): ContractValues => ({
  ...(id.startsWith('contract-')
    ? { clientId: 'demo-app', clientSecret: 'demo-secret-for-local-use-only' }
    : { clientId: 'demo-oidc', clientSecret: 'demo-oidc-secret-for-local-use-only' }),
  ...{ issuer: origin, api: origin, scope: 'USER_INFO PHONE_NUMBER' },
})

/** Matches what the program shows about Alice. */
export const shownOfAlice = (id: string): RegExp =>
  id.startsWith('contract-')
    ? /"user_id": ?"10001".*"phone_number": ?"13800000001"/
    : /(?=.*"1-10001").*"\+8613800000001"/s

export interface Place {
  /** The checkout. */
  readonly root: string
  /** An empty folder; for node it has to be below the project, which has the library. */
  readonly folder: string
  readonly values: ContractValues
  /** A free port on 127.0.0.1. */
  readonly port: number
  /** Signs a person in at this address; returns the address that the browser is redirected to. */
  readonly visit: (url: string) => Promise<string>
}

export interface Outcome {
  /** Why the program could not be run here. */
  readonly skipped?: string
  /** What the program showed once the person had come back. */
  readonly shown?: string
}

const FETCH_MS = 300_000
/** Spring was not ready after a minute on a busy machine. */
const START_MS = 300_000

const run = promisify(execFile)

/** Signs a person in with one of the programs. If that fails, the error has the program's output. */
export async function runQuickstart(id: string, place: Place): Promise<Outcome> {
  const program = PROGRAMS[id]
  if (!program) throw new Error(`no way to run ${id}`)
  if (program.never) return { skipped: program.never }
  const missing = program.needs.find((name) => !isInstalled(name))
  if (missing) return { skipped: `this machine has no ${missing}` }
  const { folder, port } = place
  const env = { ...process.env, ...program.environment?.(folder) }
  if (program.beside) cpSync(join(place.root, 'test/interop/quickstart', program.beside), folder, { recursive: true })
  const file = join(folder, program.file)
  mkdirSync(dirname(file), { recursive: true })
  // From the checkout, because this code may be running from a build folder without the snippets.
  const snippets = pathToFileURL(join(place.root, 'views/developer/snippets/'))
  writeFileSync(file, snippetOf(id, place.values, snippets).replaceAll('8080', String(port)))
  const runAll = async (commands: readonly Command[] = []): Promise<string | undefined> => {
    for (const [name, ...argv] of commands) {
      try {
        await run(name, argv, { cwd: folder, env, timeout: FETCH_MS })
      } catch (error) {
        return `${(error as Error).message}\n${(error as { stdout?: string }).stdout ?? ''}`
      }
    }
    return undefined
  }
  const fetchProblem = await runAll(program.fetch?.(folder))
  if (fetchProblem) return { skipped: `its libraries could not be fetched\n${fetchProblem}` }
  const buildProblem = await runAll(program.build?.(folder))
  if (buildProblem) throw new Error(buildProblem)
  const [name, ...argv] = program.start(folder, port)
  const child = spawn(name, argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => output.push(String(text)))
  try {
    return { shown: await signIn(child, place) }
  } catch (error) {
    throw new Error(`${(error as Error).message}; it said:\n${output.join('')}`)
  } finally {
    child.kill('SIGKILL')
  }
}

/** Signs in like a browser: keeps the program's cookies and follows its redirects until one leads to another site. */
async function signIn(child: ChildProcess, { port, visit }: Place): Promise<string> {
  const origin = `http://127.0.0.1:${port}`
  const cookies = new Map<string, string>()
  const open = async (url: string): Promise<{ left?: string; text: string }> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie, Accept: 'text/html,*/*;q=0.8' } })
    for (const one of answer.headers.getSetCookie()) {
      const [, cookieName = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      cookies.set(cookieName, value)
    }
    const location = answer.headers.get('location')
    if (!location) return { text: await answer.text() }
    const next = new URL(location, url)
    return next.origin === origin ? open(next.href) : { left: next.href, text: '' }
  }
  const until = Date.now() + START_MS
  const opened = async (): Promise<{ left?: string; text: string }> => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    return open(`${origin}/`).catch(async (error: Error) => {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
      return opened()
    })
  }
  const { left, text } = await opened()
  if (!left) throw new Error(`it did not send the browser to sign in, but showed ${text}`)
  return (await open(await visit(left))).text
}
