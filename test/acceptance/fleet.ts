import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { seedOrder } from '../orders/orders.ts'
import { until } from '../until.ts'
import { type App, Client, dataOf, type TokenSet, tokenSetOf } from './client.ts'
import { httpWire, type Wire } from './http.ts'
import { consumption, makeSeller, type Seller, send, success } from './seller.ts'
import type { RunningProcess, System } from './system.ts'

/** Processes behind a load balancer that knows which of them are ready; they are replaced one by one. */
export class Fleet {
  readonly #live: RunningProcess[]
  #turn = 0
  #starting = false

  constructor(live: readonly RunningProcess[]) {
    this.#live = [...live]
  }

  /** The next process in turn. */
  get origin(): string {
    this.#turn = (this.#turn + 1) % this.#live.length
    return this.#live[this.#turn]?.origin ?? ''
  }

  /** While a process starts, callers pause longer to leave it the CPU. */
  get isStarting(): boolean {
    return this.#starting
  }

  readonly wire: Wire = (call) => httpWire(this.origin)(call)

  /**
   * Starts a process and gives it requests, then takes the oldest out of rotation and stops it. Returns that one's exit
   * code.
   */
  async replaceFirst(start: () => Promise<RunningProcess>): Promise<number | null> {
    this.#starting = true
    const next = await start().finally(() => {
      this.#starting = false
    })
    const [first] = this.#live.splice(0, 1)
    this.#live.push(next)
    return (await first?.stop()) ?? null
  }
}

/** Callers of all kinds that repeat their calls, with credentials from the beginning and with new ones. */
export interface Traffic {
  /** By kind, the number of the last round that was answered correctly. */
  readonly answered: Readonly<Record<string, number>>
  readonly failures: readonly string[]
  /** Resolves when each kind has begun and completed a round after this call. */
  goneRound(): Promise<void>
  stop(): Promise<void>
}

interface Caller {
  readonly client: Client
  readonly app: App
  readonly tokens: TokenSet
}

type Round = () => Promise<unknown>

/** Between two rounds of a kind: short, so that some request is always in flight when a process is replaced. */
const PAUSE_MS = 200
const PAUSE_AT_START_MS = 1_000

/** `home`: PUBLIC_URL of all processes. */
export async function startTraffic(
  fleet: Fleet,
  { databaseUrl }: Pick<System, 'databaseUrl'>,
  home: string,
): Promise<Traffic> {
  const client = new Client(fleet.wire, home)
  const user = await client.makeUser()
  const [fixed, rotating, seller] = [
    await client.makeApp({ refresh_policy: 'fixed' }),
    await client.makeApp({ refresh_policy: 'rotating' }),
    await makeSeller(client),
  ]
  const browser = await client.signedIn(user, fixed)
  const caller = { client, app: fixed, tokens: await client.getTokens(browser, fixed) }
  // On a separate grant, because refreshes end the oldest tokens of their grant (ACCESS_TOKENS_PER_GRANT).
  const kept = await client.getTokens(browser, fixed)
  const ofRotating = { ...caller, app: rotating, tokens: await client.getTokens(browser, rotating) }
  const kinds = {
    'the first access token': () => readWith(client, kept),
    'the first refresh token': async () =>
      readWith(client, tokenSetOf(await client.refresh(fixed, caller.tokens.refresh_token))),
    'rotating refresh tokens': rotation(ofRotating),
    'the first session': async () => readWith(client, await client.getTokens(browser, fixed)),
    'sign-in': async () => readWith(client, await client.getTokens(await client.signedIn(user, fixed), fixed)),
    'signed notices': notices(fleet, seller, await soldOrder(databaseUrl, seller)),
  }
  return goOn(fleet, kinds)
}

async function readWith(client: Client, { access_token }: TokenSet): Promise<void> {
  dataOf(await client.userInfo(access_token))
  dataOf(await client.phone(access_token))
}

/** Sends each refresh token twice, like a client that missed the first answer; both answers must be the same. */
function rotation({ client, app, tokens }: Caller): Round {
  let present = tokens
  return async () => {
    const next = tokenSetOf(await client.refresh(app, present.refresh_token))
    const again = tokenSetOf(await client.refresh(app, present.refresh_token))
    if (again.refresh_token !== next.refresh_token) throw new Error('the repeated refresh got another answer')
    await readWith(client, again)
    present = next
  }
}

const TICKETS = 1_000_000

async function soldOrder(databaseUrl: string, { partnerId }: Seller): Promise<bigint> {
  const orderId = BigInt(partnerId) * 1_000_000n
  const pool = new Pool({ connectionString: databaseUrl, max: 1 })
  await seedOrder(pool, { orderId, partnerId: Number(partnerId), quantity: TICKETS }).finally(() => pool.end())
  return orderId
}

function notices(fleet: Fleet, seller: Seller, orderId: bigint): Round {
  let used = 0
  return async () => {
    const body = consumption({ orderId, quantity: TICKETS, used: ++used })
    const { text } = await send(fleet.origin, seller, { body })
    if (text !== success(seller)) throw new Error(text)
  }
}

function goOn(fleet: Fleet, kinds: Readonly<Record<string, Round>>): Traffic {
  const names = Object.keys(kinds)
  const [begun, answered] = [countsOf(names), countsOf(names)]
  const failures: string[] = []
  let over = false
  const going = Object.entries(kinds).map(async ([kind, round]) => {
    while (!over) {
      begun[kind] = (begun[kind] ?? 0) + 1
      try {
        await round()
        answered[kind] = begun[kind]
      } catch (error) {
        failures.push(`${kind}: ${error}`)
      }
      await sleep(fleet.isStarting ? PAUSE_AT_START_MS : PAUSE_MS)
    }
  })
  const stop = async () => {
    over = true
    await Promise.all(going)
  }
  const goneRound = async () => {
    const before = { ...begun } // the last of these rounds may still be running
    await until(() => failures.length > 0 || names.every((kind) => (answered[kind] ?? 0) > (before[kind] ?? 0)))
  }
  return { answered, failures, goneRound, stop }
}

const countsOf = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, 0]))
