import Fastify, { type FastifyRequest } from 'fastify'
import { ACCEPTED, BARE_REFUSAL, BARE_TOKENS, BARE_USER } from './bare-answers.ts'
import { listenForBench } from './listen.ts'

/** Plain Fastify that always answers the same JSON without any look-up: the upper limit of Node and Fastify. */
const app = Fastify()

type TokenRequest = FastifyRequest<{ Querystring: { access_token: string } }>

app.post('/oauth/v2/api/resource/get_userinfo', async ({ query }: TokenRequest) =>
  query.access_token.startsWith('refuse') ? BARE_REFUSAL : BARE_USER,
)
app.post('/oauth/v2/api/token', async () => BARE_TOKENS)
app.post('/mtp/api/order/consume/notice', async () => ACCEPTED)

await listenForBench(app)
