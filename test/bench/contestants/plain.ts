import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'
import { deriveKeys } from '../../../src/platform/lib/crypto/keys.ts'
import { listenForBench } from './listen.ts'
import * as sql from './plain-sql.ts'

/**
 * What a good engineer could write in an afternoon: Fastify, a pg pool of ten connections, one prepared statement per
 * request (plain-sql.ts), with the same tables, reads and writes as Gatehouse. It checks nothing (no MAC, signature, state,
 * scope, expiry or limits), but reads the data that real checks would need.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const keys = deriveKeys(process.env.SECRET_KEY ?? '')
const app = Fastify()

const LIFETIME_S = 604_800
const hashSecret = (secret: string): Buffer => createHmac('sha256', keys.storage).update(secret).digest()
/** Hashes tokens and codes as Gatehouse stores them; the bearer of a refresh token is its app. */
const hashOfToken = (token: string, bearer = ''): Buffer =>
  createHmac('sha256', keys.token)
    .update(`${token.slice(0, 4)}\n${bearer}\n`)
    .update(Buffer.from(token.slice(5, 41), 'base64url'))
    .digest()
const routingKeyOf = (token: string): number => Buffer.from(token.slice(5, 9), 'base64url').readUInt16BE(0)
const secondsFromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1000)

function newToken(prefix: string, routingKey: number): string {
  const bytes = randomBytes(36)
  bytes.writeUInt16BE(routingKey, 0)
  return `${prefix}_${bytes.toString('base64url')}`
}

const run = async (statement: { name: string; text: string }, values: unknown[]) =>
  (await pool.query({ ...statement, values })).rows[0]

app.post('/oauth/v2/api/resource/get_userinfo', async (request) => {
  const { access_token } = request.query as { access_token: string }
  const found = await run(sql.findToken, [routingKeyOf(access_token), hashOfToken(access_token)])
  const { gender, user_id, cid, name, big_avatar_url } = found
  return { rescode: 0, data: { uinfo: { gender, user_id, cid, name, big_avatar_url } } }
})

app.post('/oauth/v2/api/token', async (request) => {
  const query = request.query as Record<string, string>
  const { app_key, code, refresh_token: presented } = query
  const secretHash = hashSecret(query.app_secret ?? '')
  const routingKey = routingKeyOf(code ?? presented ?? '')
  const accessToken = newToken('ghat', routingKey)
  const access = [hashOfToken(accessToken), secondsFromNow(LIFETIME_S)]
  const answer = (refreshToken: string | undefined, scopes: string[]) => ({
    rescode: 0,
    data: {
      access_token: accessToken,
      expires_in: LIFETIME_S,
      refresh_token: refreshToken,
      scope: scopes.join(' '),
      token_type: 'bearer',
    },
  })
  if (code !== undefined) {
    const refreshToken = newToken('ghrt', routingKey)
    const issued = [...access, hashOfToken(refreshToken, app_key), secondsFromNow(30 * 86_400)]
    const found = await run(sql.exchange, [app_key, secretHash, routingKey, hashOfToken(code), ...issued])
    return answer(refreshToken, found.scopes)
  }
  const refreshHash = hashOfToken(presented ?? '', app_key)
  if (app_key !== 'bench-rotating') {
    const found = await run(sql.refresh, [app_key, secretHash, routingKey, refreshHash, ...access])
    return answer(presented, found.scopes)
  }
  const successor = newToken('ghrt', routingKey)
  const values = [app_key, secretHash, routingKey, refreshHash, ...access, hashOfToken(successor, app_key)]
  const found = await run(sql.rotate, values)
  return answer(successor, found.scopes)
})

app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
app.post('/mtp/api/order/consume/notice', async (request) => {
  const received = request.body as string
  const { body } = JSON.parse(received)
  const clientId = /^MWS ([^:]+):/.exec(request.headers.authorization ?? '')?.[1]
  const answer = { code: 200, describe: 'success', partnerId: String(request.headers.partnerid) }
  await run(sql.consume, [
    clientId,
    request.url,
    createHash('sha256').update(received).digest(),
    randomUUID(),
    received,
    JSON.stringify(answer),
    String(body.orderId),
    body.usedQuantity,
    body.refundedQuantity,
    body.voucherList[0].voucher,
  ])
  return answer
})

await listenForBench(app)
