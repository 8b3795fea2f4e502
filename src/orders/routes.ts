import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseInput } from '../lib/json/input.ts'
import { type DepsFor, seesPeople } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { readBodiesExactly } from '../lib/web/exact-body.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { BY_API } from '../partner-calls/index.ts'
import { closeOrder } from './close-order.ts'
import { createOrder } from './create-order.ts'
import { maskedStory } from './masked-story.ts'
import { payOrder } from './pay-order.ts'
import { queryOrder } from './query-order.ts'
import { refundOrder } from './refund-order.ts'
import { refundByPlatform } from './refunded-message.ts'
import { listOrders, type OrderStory, showOrder } from './show-order.ts'
import { oneOrder } from './wire.ts'

interface OneOrderRoute {
  Params: { order_id: string }
}

const idOf = (request: FastifyRequest<OneOrderRoute>): bigint => parseInput(oneOrder, request.params).order_id

/** The input of a route below /orders/:order_id; the path's order_id counts. */
const withId = (request: FastifyRequest<OneOrderRoute>): object => ({
  ...((request.body ?? {}) as object),
  ...request.params,
})

/** The operator's routes for orders, below /admin/v1. A failed call is part of the response: the order is as shown. */
export function orderRoutes(app: FastifyInstance, depsFor: DepsFor<CallDeps>): void {
  readBodiesExactly(app)

  app.get('/orders', { config: { readsQuery: true } }, async (request, reply) =>
    answerLossless(request, reply, await listOrders(depsFor(request), parseInput(listOrders.input, request.query))),
  )

  app.post('/orders', async (request, reply) =>
    answerLossless(
      request,
      reply,
      await createOrder(depsFor(request), parseInput(createOrder.input, request.body), BY_API),
    ),
  )

  const storyFor = async (request: FastifyRequest<OneOrderRoute>): Promise<OrderStory> => {
    const story = await showOrder(depsFor(request), idOf(request))
    return seesPeople(request) ? story : maskedStory(story)
  }

  app.get<OneOrderRoute>('/orders/:order_id', async (request, reply) =>
    answerLossless(request, reply, await storyFor(request)),
  )

  app.post<OneOrderRoute>('/orders/:order_id/pay', async (request, reply) =>
    answerLossless(request, reply, await payOrder(depsFor(request), idOf(request), BY_API)),
  )

  app.post<OneOrderRoute>('/orders/:order_id/query', async (request, reply) =>
    answerLossless(request, reply, await queryOrder(depsFor(request), idOf(request), BY_API)),
  )

  app.post<OneOrderRoute>('/orders/:order_id/close', async (request, reply) =>
    answerLossless(request, reply, await closeOrder(depsFor(request), idOf(request), BY_API)),
  )

  app.post<OneOrderRoute>('/orders/:order_id/refund', async (request, reply) =>
    answerLossless(
      request,
      reply,
      await refundOrder(depsFor(request), parseInput(refundOrder.input, withId(request)), BY_API),
    ),
  )

  app.post<OneOrderRoute>('/orders/:order_id/refunded', async (request, reply) =>
    answerLossless(
      request,
      reply,
      await refundByPlatform(depsFor(request), parseInput(refundByPlatform.input, withId(request)), BY_API),
    ),
  )
}
