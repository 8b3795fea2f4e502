import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { type ProcessMetrics, sumOf } from '../../src/operations/metrics/index.ts'
import {
  type MetricsFromServer,
  MetricsOfProcesses,
  type MetricsToServer,
  metricsOfAll,
} from '../../src/process/gather-metrics.ts'

async function metricsWith(requests: number): Promise<ProcessMetrics> {
  const registry = new Registry()
  new Counter({ name: 'requests_total', help: 'requests', registers: [registry] }).inc(requests)
  new Gauge({ name: 'processes', help: 'processes', registers: [registry] }).set(1)
  return registry.getMetricsAsJSON()
}

/** A server process as its primary process sees it. */
class Child extends EventEmitter {
  readonly received: MetricsToServer[] = []
  isConnected = (): boolean => true
  send(message: MetricsToServer): void {
    this.received.push(message)
  }
  says(message: MetricsFromServer | 'ready'): void {
    this.emit('message', message)
  }
  /** The number of the request for its own metrics. */
  async asked(): Promise<number> {
    await expect.poll(() => this.received.some((message) => 'metricsRequest' in message)).toBe(true)
    return this.received.flatMap((message) => ('metricsRequest' in message ? [message.metricsRequest] : [])).at(-1) ?? 0
  }
  async reply(requests: number): Promise<void> {
    this.says({ ownMetrics: await metricsWith(requests), id: await this.asked() })
  }
}

function processes(count: number) {
  const all = new MetricsOfProcesses(() => metricsWith(1))
  const children = Array.from({ length: count }, () => new Child())
  for (const child of children) {
    all.add(child as unknown as Worker)
    child.says('ready')
  }
  return children as [Child, Child, Child]
}

/** What the process that asked is told, as sums. */
async function told(asker: Child): Promise<Record<string, number>> {
  const answer = () => asker.received.find((message) => 'allMetrics' in message)
  await expect.poll(answer, { timeout: 4_000 }).toBeDefined()
  const found = answer()
  return sums(found && 'allMetrics' in found ? found.allMetrics : [])
}

async function sums(processes: readonly ProcessMetrics[]): Promise<Record<string, number>> {
  const metrics = await sumOf(processes).getMetricsAsJSON()
  return Object.fromEntries(
    metrics.map((metric) => [metric.name, (metric as { values: { value: number }[] }).values[0]?.value ?? 0]),
  )
}

it('adds up the metrics of all processes', async () => {
  const [first, second] = processes(2)
  first.says({ askMetrics: 7 })
  await first.reply(10)
  await second.reply(100)
  expect(await told(first)).toEqual({ requests_total: 111, processes: 3 })
})

it('counts a process once that ends after its reply, while others are still asked', async () => {
  const [first, second] = processes(2)
  first.says({ askMetrics: 7 })
  await second.reply(100)
  await sleep(10)
  second.emit('exit')
  await sleep(10)
  await first.reply(10)
  expect(await told(first)).toEqual({ requests_total: 111, processes: 2 })
})

it('a process that does not answer hides only itself, and what it counted before stays', async () => {
  const [first, silent] = processes(2)
  first.says({ askMetrics: 7 })
  await first.reply(10)
  await silent.reply(100)
  await told(first)
  first.received.length = 0
  const send = process.send
  const { gather, take } = metricsOfAll(() => metricsWith(20))
  process.send = (message: MetricsFromServer) => {
    setTimeout(() => first.says(message), 20) // on its way
    return true
  }
  first.send = take
  try {
    expect(await sums(await gather())).toEqual({ requests_total: 121, processes: 2 })
  } finally {
    if (send) process.send = send
    else delete process.send
  }
})

it('does not wait for a process that is only starting', async () => {
  const all = new MetricsOfProcesses(() => metricsWith(1))
  const [ready, starting] = [new Child(), new Child()]
  for (const child of [ready, starting]) all.add(child as unknown as Worker)
  ready.says('ready')
  ready.says({ askMetrics: 7 })
  await ready.reply(10)
  expect(await told(ready)).toEqual({ requests_total: 11, processes: 2 })
  expect(starting.received).toEqual([])
})

it('keeps the counts of two processes that end at once', async () => {
  const [first, second, third] = processes(3)
  first.says({ askMetrics: 7 })
  await first.reply(10)
  await second.reply(100)
  await third.reply(1_000)
  await told(first)
  first.received.length = 0
  second.emit('exit')
  third.emit('exit')
  await sleep(10)
  first.says({ askMetrics: 8 })
  await first.reply(10)
  expect(await told(first)).toEqual({ requests_total: 1_111, processes: 2 })
})
