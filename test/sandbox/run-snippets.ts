import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { systemClock } from '../../src/platform/lib/clock.ts'
import { ENCRYPTION_SNIPPETS } from '../../src/sandbox/portal/snippets.ts'
import { hasPassedSignatureTool } from '../../src/ticketing/mws/signature-test-store.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { isInstalled } from '../is-installed.ts'
import { get, newSandboxPartner, type SandboxPartner, sessionOf } from './partners.ts'

/** Snippets, as a partner copies them off the page, run against the running service. */

const run = promisify(execFile)
// The worst valid clientId: each of its parts has a meaning in one of the languages.
const CLIENT_ID = `it's-"q"-$HOME-\`id\`-\\n-\\u0041-%s-#{x}-@y-<b>&amp;`

interface Runner {
  /** Programs that have to be on the PATH. */
  readonly needs: readonly string[]
  readonly file: string
  /** Run one after the other in the folder of the file; the last one prints the answer. */
  readonly commands: readonly (readonly [program: string, ...argv: string[]])[]
}

/** Some packages of mono have the compiler without this library. */
const lacksLibrary = ({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }): boolean =>
  /CS0006.*System\.Net\.Http/.test(stdout + stderr)

const RUNNERS: Readonly<Record<string, Runner>> = {
  curl: { needs: ['sh', 'curl', 'openssl'], file: 'sign.sh', commands: [['sh', 'sign.sh']] },
  node: { needs: ['node'], file: 'sign.mjs', commands: [['node', 'sign.mjs']] },
  python: { needs: ['python3'], file: 'sign.py', commands: [['python3', 'sign.py']] },
  java: { needs: ['java', 'javac'], file: 'Sign.java', commands: [['java', 'Sign.java']] },
  php: { needs: ['php'], file: 'sign.php', commands: [['php', 'sign.php']] },
  csharp: {
    needs: ['mcs', 'mono'],
    file: 'Program.cs',
    commands: [
      ['mcs', '-r:System.Net.Http', 'Program.cs'],
      ['mono', 'Program.exe'],
    ],
  },
  go: { needs: ['go'], file: 'sign.go', commands: [['go', 'run', 'sign.go']] },
}

const AES_RUNNERS: Readonly<Record<string, Runner>> = {
  curl: { needs: ['sh', 'openssl'], file: 'aes.sh', commands: [['sh', 'aes.sh']] },
  node: { needs: ['node'], file: 'aes.mjs', commands: [['node', 'aes.mjs']] },
  python: { needs: ['python3'], file: 'aes.py', commands: [['python3', 'aes.py']] },
  java: { needs: ['java', 'javac'], file: 'Aes.java', commands: [['java', 'Aes.java']] },
  php: { needs: ['php'], file: 'aes.php', commands: [['php', 'aes.php']] },
  csharp: {
    needs: ['mcs', 'mono'],
    file: 'Program.cs',
    commands: [
      ['mcs', 'Program.cs'],
      ['mono', 'Program.exe'],
    ],
  },
  go: { needs: ['go'], file: 'aes.go', commands: [['go', 'run', 'aes.go']] },
}

/** Tests the snippets for these languages, and that none is missing. */
export function testSnippets(languages: readonly string[]): void {
  let world: World
  let app: Awaited<ReturnType<typeof buildApp>>
  let partner: SandboxPartner
  let snippets: ReadonlyMap<string, string>
  let folder: string

  beforeAll(async () => {
    const port = await freePort()
    world = await openWorld({ PUBLIC_URL: `http://127.0.0.1:${port}` })
    // Snippets use the clock of the machine, so the service has to as well.
    const deps = { ...world.deps, clock: systemClock }
    app = await buildApp({ deps, log: world.log, readiness: { draining: false } })
    await app.listen({ host: '127.0.0.1', port })
    partner = await newSandboxPartner(world, { client_id: CLIENT_ID })
    snippets = await snippetsOnThePage()
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-snippets-'))
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await app.close()
    await world.close()
  })

  async function snippetsOnThePage(): Promise<Map<string, string>> {
    const { body } = await get(world, '/sandbox/signature', await sessionOf(world, partner))
    expect(body).not.toContain(partner.client_secret)
    const blocks = [...body.matchAll(/<pre[^>]* data-copy="[^>]*><code>([^<]*)<\/code>/g)]
    const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
    const sources = blocks.map(([, html = '']) => html.replace(/&(#?\w+);/g, (_all, name) => entities[name] ?? '?'))
    return new Map(Object.keys(RUNNERS).map((id, index) => [id, sources[index] ?? '']))
  }

  describe('the snippets', () => {
    it('exist for seven languages', () =>
      expect([...snippets.values()].filter((source) => source !== '').length).toBe(7))

    it.each(languages)('pass the signature tool: %s', async (id) => {
      const source = snippets.get(id) ?? ''
      expect(source).toContain('CLIENT_SECRET')
      const { needs, file, commands } = RUNNERS[id] as Runner
      for (const program of needs) {
        if (isInstalled(program)) continue
        process.stderr.write(`NOT RUN: the ${id} snippet, because this machine has no ${program}\n`)
        return
      }
      const cwd = mkdtempSync(join(folder, `${id}-`))
      writeFileSync(join(cwd, file), source)
      const { PATH, HOME } = process.env
      const env = { PATH, HOME: HOME ?? cwd, GO111MODULE: 'off', GOCACHE: join(cwd, 'cache'), LANG: 'zh_CN.UTF-8' }
      let printed = ''
      for (const [program, ...argv] of commands) {
        const given = { cwd, env: { ...env, CLIENT_SECRET: partner.client_secret } }
        const ran = await run(program, argv, given).catch((error: object) => {
          if (lacksLibrary(error)) return null
          throw error
        })
        if (!ran) {
          process.stderr.write(`NOT RUN: the ${id} snippet, because this machine has no System.Net.Http\n`)
          return
        }
        printed = ran.stdout
      }
      expect(JSON.parse(printed)).toEqual({ code: 200, describe: 'success', partnerId: String(partner.partner_id) })
      expect(await hasPassedSignatureTool(world.deps, partner.partner_id)).toBe(true)
    })
  })

  describe('the snippets for encrypted bodies', () => {
    it('are in the field reference', async () => {
      const { body } = await get(world, '/sandbox/docs')
      for (const { name } of ENCRYPTION_SNIPPETS) expect(body).toContain(`<summary>${name}</summary>`)
      expect(ENCRYPTION_SNIPPETS.map(({ id }) => id)).toEqual(Object.keys(AES_RUNNERS))
    })

    it.each(ENCRYPTION_SNIPPETS.filter(({ id }) => languages.includes(id)))(
      'encrypt and decrypt the example, with both forms of the key: $id',
      async ({ id, source }) => {
        const { needs, file, commands } = AES_RUNNERS[id] as Runner
        const lacks = needs.find((program) => !isInstalled(program))
        const library = id === 'python' && (await run('python3', ['-c', 'import cryptography']).catch(() => 'missing'))
        if (lacks || library === 'missing') {
          process.stderr.write(
            `NOT RUN: the ${id} snippet for encrypted bodies, because this machine has no ${lacks ?? 'cryptography'}\n`,
          )
          return
        }
        const cwd = mkdtempSync(join(folder, `aes-${id}-`))
        writeFileSync(join(cwd, file), source)
        const { PATH, HOME } = process.env
        const env = { PATH, HOME: HOME ?? cwd, GO111MODULE: 'off', GOCACHE: join(cwd, 'cache') }
        for (const AES_KEY of ['0123456789abcdef', Buffer.from('0123456789abcdef').toString('hex')]) {
          let printed = ''
          for (const [program, ...argv] of commands)
            printed = (await run(program, argv, { cwd, env: { ...env, AES_KEY } })).stdout
          expect(printed.trim().split(/\r?\n/)).toEqual([
            'KySuk7oNn6QfgzUaTZMIssYyDR5I9Gz8T34ZdBY2JyQ=',
            '{"partnerId":1001}',
          ])
        }
      },
    )
  })
}
