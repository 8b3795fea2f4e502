import type { FastifyInstance } from 'fastify'

/** Listens on a free port, reports it to the benchmark, and exits together with it. */
export async function listenForBench(app: FastifyInstance): Promise<void> {
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  endWithBench()
  process.send?.({ port: Number(new URL(origin).port) })
}

export const endWithBench = (): void => {
  process.on('disconnect', () => process.exit())
}
