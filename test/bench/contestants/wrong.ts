import Fastify from 'fastify'
import { BARE_USER } from './bare-answers.ts'
import { listenForBench } from './listen.ts'

/** Answers fast, rightly formed and with the wrong user: the benchmark has to fail. Only its own test runs this. */
const app = Fastify()

app.post('/oauth/v2/api/resource/get_userinfo', async () => BARE_USER)

await listenForBench(app)
