import { httpWire, type Wire } from '../acceptance/http.ts'
import { type Seller, send } from '../acceptance/seller.ts'
import { ADMIN_TOKEN, type System } from '../acceptance/system.ts'
import type { Random } from './random.ts'

/** Steps of the sandbox that call the partner and do not wait for a notice from it. */
const STEPS = [
  ...['product-pull', 'poi-pull', 'price-calendar', 'level-price-calendar', 'balance-query', 'heartbeat'],
  ...[
    'order-create',
    'order-pay',
    'order-query',
    'refund-at-once',
    'order-close',
    'order-reschedule',
    'wrong-signature',
  ],
]
const FUNCTIONS = [
  ...['poi-pull', 'price-calendar', 'level-price-calendar', 'pay-at-once', 'refund-at-once', 'order-close'],
  ...['order-reschedule', 'balance-query', 'heartbeat'],
]

/** Longer than any operation takes while the partner answers. */
const ANSWER_WITHIN_MS = 120_000

/** Rejects with the name of the call if its answer does not come in time. */
function within<Answer>(answer: Promise<Answer>, what: string): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${what}`)), ANSWER_WITHIN_MS)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

interface ReceivedAnswer {
  readonly what: string
  readonly status: number
  readonly text: string
}

/** Triggers every call that we make to partners, the way an operator does. */
export class Operator {
  readonly #system: System
  readonly answers: ReceivedAnswer[] = []
  readonly #wire: Wire

  constructor(system: System) {
    this.#system = system
    this.#wire = httpWire(system.origin)
  }

  /** Returns the answer as text, because it holds ids too large for JavaScript numbers. */
  async ask(path: string, body?: object): Promise<string> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    const answer = await within(
      this.#wire({ method: 'POST', path: `/admin/v1${path}`, headers, body: JSON.stringify(body ?? {}) }),
      path,
    )
    this.answers.push({ what: `${path} ${JSON.stringify(body ?? {})}`, status: answer.status, text: answer.text })
    return answer.text
  }

  async catalogue(random: Random, seller: Seller): Promise<void> {
    const products = `/partners/${seller.partnerId}/products`
    await this.ask(random.chance(0.3) ? `${products}/pull` : `${products}/DEAL-1/pull`)
    await this.ask(`${products}/DEAL-1/pull-prices`, random.chance(0.3) ? { level: true } : {})
  }

  async order(random: Random, seller: Seller): Promise<void> {
    const visitors = [{ name: 'A', mobile: '13800000000', credentials: { '0': '11010519491231002X' } }]
    const made = await this.ask('/orders', {
      partner_id: Number(seller.partnerId),
      partner_deal_id: 'DEAL-1',
      quantity: 2,
      unit_price: '10.00',
      buy_price: '8.00',
      visitors,
    })
    const [, id] = /"order_id":"?(\d+)/.exec(made) ?? []
    if (id === undefined) return
    for (const next of ['pay', 'query', 'refund', 'query', 'close', 'refunded']) {
      if (!random.chance(0.8)) continue
      await this.ask(`/orders/${id}/${next}`, next === 'refunded' ? { type: random.pick([1, 2, 3]) } : {})
    }
  }

  /** Runs one step of the sandbox through the headless API and waits for its end. */
  async step(random: Random, seller: Seller): Promise<void> {
    const call = async (method: string, path: string, body = '') => {
      const answer = await within(send(this.#system.origin, seller, { method, path, body }), `${method} ${path}`)
      this.answers.push({ what: `${method} ${path}`, status: answer.status, text: answer.text })
      return JSON.parse(answer.text) as { run_id?: string; run?: { run_id: string }; code?: number }
    }
    const body = { functions: FUNCTIONS, products: { main: 'DEAL-1', level: 'DEAL-1' } }
    await call('POST', '/sandbox/api/runs', JSON.stringify({ partnerId: seller.partnerId, overwrite: true, body }))
    const step = random.pick(STEPS)
    // Steps must be passed in order, and this partner passes none, so the run is moved to the step.
    const moved = 'update sandbox_run set current_step = $2 where partner_id = $1 and superseded_at is null'
    await this.#system.query(moved, [seller.partnerId, step]).catch(() => {})
    await call('POST', `/sandbox/api/runs/present/steps/${step}/start`)
    for (let after = 0, turn = 0; turn < 20; turn++) {
      const { events = [], last_seq = after } = (await call(
        'GET',
        `/sandbox/api/runs/present/events?after=${after}&wait=2`,
      )) as { events?: { kind: string }[]; last_seq?: number }
      if (events.some(({ kind }) => kind === 'ended') || events.length === 0) return
      after = last_seq
    }
  }
}
