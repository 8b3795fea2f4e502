import { expect } from 'vitest'
import { startVisitors } from '../chaos/load/visitors.ts'
import { until } from '../until.ts'

/**
 * 64 busy keep-alive connections. With `looks` they act like a load balancer and open no new connection while the
 * service is not ready; without it they reconnect as long as anything listens.
 */
const CONNECTIONS = 64

const READ =
  'POST /oauth/v2/api/resource/get_userinfo?access_token=none HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'

/**
 * Resolves once every connection has had an answer, to a function that is called after the service has ended: it stops
 * the visitors and asserts that no request was lost.
 */
export async function startBusyVisitors(
  origin: string,
  { pauseMs = 100, looks = true } = {},
): Promise<() => Promise<void>> {
  let ready = true
  const visitors = startVisitors({
    port: Number(new URL(origin).port),
    connections: CONNECTIONS,
    request: () => READ,
    pauseMs,
    mayConnect: () => ready || !looks,
    onRefused: 'end',
  })
  const looking = setInterval(async () => {
    ready = (await fetch(`${origin}/readyz`).catch(() => undefined))?.status === 200
  }, 200)
  const stop = async () => {
    clearInterval(looking)
    visitors.stop()
    ready = true
    await visitors.ended
  }
  try {
    await until(() => visitors.counts.atWork === CONNECTIONS)
  } catch (error) {
    await stop()
    throw error
  }
  return async () => {
    await stop()
    const { reset, failed, reasons } = visitors.counts
    expect({ reset, failed, reasons: [...reasons] }).toEqual({ reset: 0, failed: 0, reasons: [] })
  }
}
