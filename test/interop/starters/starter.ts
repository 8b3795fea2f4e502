import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../free-port.ts'
import { isInstalled } from '../../is-installed.ts'
import { until } from '../../until.ts'
import type { Walker } from '../partners/certify.ts'
import { type Credentials, type Json, PartnerProgram } from '../partners/program.ts'

/** A starter as a seller's engineer uses it: downloaded, started and controlled by its own commands. */

export interface Language {
  /** The file to download. */
  readonly file: string
  /** Programs that have to be on the PATH. */
  readonly needs: readonly string[]
  /** Run once before the start. */
  readonly compile?: readonly [program: string, ...argv: string[]]
  /** Starts the server; `command` followed by words runs one of its commands. */
  readonly serve: (port: number) => readonly [program: string, ...argv: string[]]
  readonly command: readonly [program: string, ...argv: string[]]
}

/** Each command is a short process that ends before Java's second compiler would pay off. */
const JAVA = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', 'Seller'] as const

export const LANGUAGES: readonly Language[] = [
  {
    file: 'seller.py',
    needs: ['python3'],
    serve: () => ['python3', 'seller.py'],
    command: ['python3', 'seller.py'],
  },
  {
    file: 'Seller.java',
    needs: ['java', 'javac'],
    compile: ['javac', 'Seller.java'],
    serve: () => JAVA,
    command: JAVA,
  },
  {
    file: 'seller.php',
    needs: ['php'],
    serve: (port) => ['php', '-S', `127.0.0.1:${port}`, 'seller.php'],
    command: ['php', 'seller.php'],
  },
]

/** The first program of a language that this machine does not have. */
export const missingFrom = ({ needs }: Language): string | undefined => needs.find((program) => !isInstalled(program))

/** The products of each starter, and all functions that the sandbox can test. */
const WALK = {
  functions: [
    ...['product-pull', 'product-change', 'poi-pull', 'price-calendar', 'level-price-calendar', 'order-create'],
    ...['sold-out', 'pay-at-once', 'pay-later', 'order-query', 'consumption', 'refund-at-once', 'refund-after-review'],
    ...[
      'order-close',
      'order-reschedule',
      'refunded-message',
      'balance-query',
      'product-status',
      'heartbeat',
      'robustness',
    ],
  ],
  products: ['TICKET', 'LATER', 'REVIEW', 'SHOW', 'SOLD-OUT'],
  runOptions: { products: { main: 'TICKET', later: 'LATER', review: 'REVIEW', level: 'SHOW', sold_out: 'SOLD-OUT' } },
}

/** The words of the command that sends the notice a step waits for. */
const commandFor = (path: string, about: Readonly<Record<string, string>>): string[] => {
  if (path.endsWith('/order/consume/notice')) return ['used', String(about.orderId), String(about.usedQuantity)]
  if (path.endsWith('/order/refund/notice')) return ['refund', String(about.refundId), 'yes']
  if (path.endsWith('/deal/change/notice')) return ['change', String(about.partnerDealId), String(about.status)]
  if (path.endsWith('/order/pay/notice')) return ['issue', String(about.orderId)]
  throw new Error(`no command sends ${path}`)
}

export class Starter implements Walker {
  readonly functions = WALK.functions
  readonly products = WALK.products
  readonly runOptions = WALK.runOptions
  readonly platformUrl: string
  readonly port: number
  readonly controlPort: number
  /** Everything printed so far. */
  output = ''
  readonly #signer = new PartnerProgram()
  readonly #language: Language
  readonly #folder: string
  readonly #environment: Record<string, string>
  #child: ChildProcess | undefined

  private constructor(given: {
    readonly language: Language
    readonly folder: string
    readonly me: Credentials
    readonly platformUrl: string
    readonly ports: readonly [number, number]
  }) {
    this.#language = given.language
    this.#folder = given.folder
    this.platformUrl = given.platformUrl
    ;[this.port, this.controlPort] = given.ports
    this.#signer.me = given.me
    this.#environment = {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? given.folder, LANG: 'C' },
      ...{ CLIENT_SECRET: given.me.clientSecret, HOST: '127.0.0.1' },
      ...{ PORT: String(this.port), CONTROL_PORT: String(this.controlPort) },
    }
  }

  /** Writes the file, starts the starter, and waits until it listens. */
  static async start(
    language: Language,
    given: { readonly folder: string; readonly me: Credentials; readonly platformUrl: string; readonly source: string },
    ports: readonly [number, number],
  ): Promise<Starter> {
    writeFileSync(join(given.folder, language.file), given.source)
    const starter = new Starter({ language, ...given, ports })
    if (language.compile) await starter.#run(language.compile)
    const [program, ...argv] = language.serve(starter.port)
    const child = spawn(program, argv, { cwd: given.folder, env: starter.#environment })
    starter.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        starter.output += text
      })
    }
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${language.file} has ended: ${starter.output}`)
      return fetch(`http://127.0.0.1:${starter.port}/alive`, { method: 'POST' }).then(
        () => true,
        () => false,
      )
    })
    return starter
  }

  static ports = async (): Promise<[number, number]> => [await freePort(), await freePort()]

  headers(path: string, method?: string): Record<string, string> {
    return this.#signer.headers(path, method)
  }

  onWait(path: string, about: Readonly<Record<string, string>>): Promise<unknown> {
    return this.command(...commandFor(path, about))
  }

  /** Runs one of its commands and returns the output. */
  command(...words: string[]): Promise<string> {
    return this.#run([...this.#language.command, ...words])
  }

  async #run([program, ...argv]: readonly [string, ...string[]]): Promise<string> {
    const options = { cwd: this.#folder, env: this.#environment }
    return (await promisify(execFile)(program, argv, options)).stdout.trim()
  }

  /** Makes a call as the platform does. */
  async call(path: string, text: string, changes: Record<string, string> = {}): Promise<Json> {
    const headers = { ...this.headers(path), ...changes }
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, { method: 'POST', headers, body: text })
    if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`)
    return JSON.parse(await answer.text())
  }

  async stop(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill()
    await ended
  }
}
