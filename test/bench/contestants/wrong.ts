import Fastify from 'fastify'
import { BARE_USER } from './bare-answers.ts'
import { listenForBench } from './listen.ts'

/** Gives fast, well-formed responses with the wrong user, so the benchmark has to fail. Only used by a test. */
const app = Fastify()

app.post('/oauth/v2/api/resource/get_userinfo', async () => BARE_USER)

await listenForBench(app)
