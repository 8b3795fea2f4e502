import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { flushRepliesPerTick } from '../../../src/platform/lib/web/flush-replies.ts'

function appWith(routes: (app: FastifyInstance) => void): FastifyInstance {
  const app = Fastify()
  onTestFinished(() => app.close())
  flushRepliesPerTick(app)
  routes(app)
  return app
}

it('sends no answer before the other requests of the same tick have been read', async () => {
  const seen: string[] = []
  const app = appWith((routes) => {
    routes.get('/:name', (request, reply) => {
      const { name } = request.params as { name: string }
      seen.push(`${name} read`)
      reply.raw.once('finish', () => seen.push(`${name} sent`))
      reply.send(name)
    })
  })
  await app.ready()
  const answers = await Promise.all(['/a', '/b', '/c'].map((url) => app.inject(url)))
  expect(answers.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
  expect(seen).toEqual(['a read', 'b read', 'c read', 'a sent', 'b sent', 'c sent'])
})

it('passes an answer that cannot be sent to the error handler, and sends the others', async () => {
  const app = appWith((routes) => {
    routes.setErrorHandler((_error, _request, reply) => {
      reply.removeHeader('x-bad').code(500).send('mended')
    })
    routes.get('/bad', (_request, reply) => reply.header('x-bad', 'two\nlines').send('bad'))
    routes.get('/good', (_request, reply) => reply.send('good'))
  })
  const answers = await Promise.all(['/bad', '/good'].map((url) => app.inject(url)))
  expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual([
    [500, 'mended'],
    [200, 'good'],
  ])
})

it('sends a stream at once, so that an immediate failure is noticed', async () => {
  const app = appWith((routes) => {
    routes.get('/', (_request, reply) => {
      const stream = new Readable({ read() {} })
      process.nextTick(() => queueMicrotask(() => stream.destroy(new Error('broken'))))
      return reply.send(stream)
    })
  })
  expect((await app.inject('/')).statusCode).toBe(500)
})
