import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePasted } from '../../src/authorization/developer/pasted.ts'
import { jsTicket } from '../../src/authorization/resource/index.ts'
import { epochSeconds } from '../../src/platform/lib/clock.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type Client, dataOf, type Parameters, pkcePair, tokenSetOf } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { header, queryOf } from '../acceptance/http.ts'
import { altered } from '../altered.ts'
import { openWorld, type World } from '../harness.ts'
import { basicOf, bodyOf, FORM } from '../oidc/app.ts'
import { clientOf, type Developer, founder, registered, secretOf, tester, withAuthenticator } from '../teams/people.ts'

/** The helpers judge what developers paste by the checks of the endpoints, without executing it. */

const CALLBACK = 'http://localhost:8000/callback'
const t = translator('en')

let world: World
let client: Client
let owner: Developer & { team: string }
let app: { app_key: string; app_secret: string; redirect_uri: string }
let person: Browser
beforeAll(async () => {
  world = await openWorld({ LOG_REQUESTS: 'all' })
  client = clientOf(world)
  owner = await founder(world)
  await withAuthenticator(world, owner)
  const app_key = await registered(owner)
  const app_secret = await secretOf(owner, app_key)
  app = { app_key, app_secret, redirect_uri: CALLBACK }
  person = await tester(world, owner, app_key)
})
afterAll(() => world?.close())

const helper = async (name: string, form: Record<string, string>, { browser }: Pick<Developer, 'browser'> = owner) =>
  (await browser.send('POST', `/developer/helpers/${name}`, form)).text
const resultIn = (html: string) =>
  visibleText(
    /<div role="status"[\s\S]*?<form|<p class="alert" role="status"[\s\S]*?<form/.exec(html)?.[0] ?? html,
  ).replace(/\s+/g, ' ')
const judged = async (request: string, by?: Pick<Developer, 'browser'>) =>
  resultIn(await helper('request', { request }, by))

const home = () => world.deps.config.PUBLIC_URL
const { verifier, challenge } = pkcePair()
const contractUrl = (changes: Parameters = {}) =>
  `${home()}${client.authorizePath(client.request(app, { scope: 'USER_INFO', ...changes }))}`
const standardUrl = (changes: Parameters = {}) =>
  `${home()}/oauth2/authorize?${queryOf({
    ...{ client_id: app.app_key, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid profile', state: 's' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', ...changes },
  })}`
const contractToken = (changes: Parameters = {}) =>
  `curl -i -X POST '${home()}/oauth/v2/api/token?${queryOf(client.exchangeParameters(app, { code: 'x', state: 'x' }, changes))}'`
const tokenForm = (changes: Parameters = {}) =>
  queryOf({
    ...{ client_id: app.app_key, client_secret: app.app_secret, grant_type: 'authorization_code', code: 'x' },
    ...{ redirect_uri: CALLBACK, code_verifier: verifier, ...changes },
  })
const standardToken = (changes: Parameters = {}, headers = `Content-Type: ${FORM}`) =>
  `POST /oauth2/token HTTP/1.1\r\nHost: ${new URL(home()).host}\r\n${headers}\r\n\r\n${tokenForm(changes)}`
async function standardCode(): Promise<string> {
  const page = await person.open(new URL(standardUrl()).pathname + new URL(standardUrl()).search)
  const form = consentForm(page.text)
  const answer = form ? await person.submit(form, { decision: 'approve' }) : page
  return new URL(header(answer, 'location')).searchParams.get('code') ?? ''
}

describe('a pasted request', () => {
  const right = 'Nothing is wrong with it.'
  const fix = (id: string, values = {}) => t(`developer.fix.${id}`, values)
  it.each<[string, () => string, string]>([
    ['an address of the contract', () => contractUrl(), right],
    ['an address of OAuth 2.0', () => standardUrl(), right],
    ['another redirect URI', () => contractUrl({ redirect_uri: 'http://localhost:8000/x' }), fix('redirect_uri')],
    ['another redirect URI, OAuth 2.0', () => standardUrl({ redirect_uri: `${CALLBACK}/` }), fix('redirect_uri')],
    ['a scope that the app does not hold', () => standardUrl({ scope: 'openid phone' }), fix('scope_not_held')],
    ['no state', () => contractUrl({ state: undefined }), fix('missing', { name: 'state' })],
    ['no PKCE', () => standardUrl({ code_challenge: undefined, code_challenge_method: undefined }), fix('challenge')],
    ['an unknown app', () => contractUrl({ app_key: 'demo-of-elsewhere' }), fix('unknown_app')],
    ['a wrong secret', () => contractToken({ app_secret: 'wrong' }), fix('credentials')],
    ['another grant type', () => contractToken({ grant_type: 'password' }), fix('grant_type')],
    ['an invalid code', () => contractToken(), fix('code')],
    ['an invalid code, OAuth 2.0', () => standardToken(), fix('code')],
    [
      'two ways of authentication at once',
      () => standardToken({}, `Content-Type: ${FORM}\r\nAuthorization: ${basicOf(app.app_key, 'x')}`),
      fix('two_ways'),
    ],
    ['a GET', () => `curl -G ${home()}/oauth2/token -d client_id=${app.app_key}`, fix('method')],
    [
      'JSON',
      () => `curl ${home()}/oauth2/token -H 'Content-Type: application/json' -u ${app.app_key}:x -d '{"code":"x"}'`,
      fix('media_type'),
    ],
    [
      'a multipart form',
      () => `curl ${home()}/oauth2/token -F client_id=${app.app_key} -F grant_type=authorization_code`,
      fix('media_type'),
    ],
    [
      'combined short options of curl',
      () => contractToken({ grant_type: 'password' }).replace('-i -X POST', '-siX POST'),
      fix('grant_type'),
    ],
    ['a query in place of the form', () => `POST ${home()}/oauth2/token?${tokenForm()}`, fix('query')],
    [
      'a form in place of the query',
      () =>
        `curl '${home()}/oauth/v2/api/token?app_key=${app.app_key}&app_secret=${app.app_secret}' -d grant_type=authorization_code`,
      fix('body'),
    ],
    ['another service', () => contractUrl().replace(home(), 'https://gate.example'), t('developer.helpers.other_host')],
    ['another path', () => `${home()}/oauth/token?client_id=x`, t('developer.helpers.elsewhere')],
    ['no request', () => 'Why does it not work?', t('developer.helpers.unreadable')],
  ])('gets the right advice: %s', async (_name, request, expected) => {
    expect(await judged(request())).toContain(expected)
  })

  it('is not executed: its code and refresh token still work afterwards, in both dialects', async () => {
    const count = async () =>
      (await world.pool.query('select (select count(*) from access_token) + (select count(*) from audit_event) as n'))
        .rows[0].n
    const { code: inContract, state } = await client.getCode(person, app, { scope: 'USER_INFO' })
    const [consented, code] = [{ code: inContract, state }, await standardCode()]
    await client.call('POST', '/oauth2/token', { 'content-type': FORM }, tokenForm({ code: await standardCode() })) // creates the first signing key
    const before = [await count(), { ...world.deps.metrics.tokensIssued }]
    for (let n = 0; n < 5; n++) {
      expect(await judged(contractToken(consented))).toContain(right)
      expect(await judged(standardToken({ code }))).toContain(right)
      expect(await judged(contractToken({ ...consented, state: 'other' }))).toContain(fix('state_same'))
      expect(await judged(standardToken({ code, code_verifier: 'v'.repeat(43) }))).toContain(fix('verifier'))
    }
    expect([await count(), world.deps.metrics.tokensIssued]).toEqual(before)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    const answer = await client.call('POST', '/oauth2/token', { 'content-type': FORM }, tokenForm({ code }))
    expect(bodyOf(answer)).toHaveProperty('id_token')
    // A refresh token is not rotated either, and a used code does not revoke its grant.
    const refresh = `curl -X POST '${home()}/oauth/v2/api/token?${queryOf(client.refreshParameters(app, tokens.refresh_token))}'`
    expect(await judged(refresh)).toContain(right)
    expect(dataOf(await client.refresh(app, tokens.refresh_token))).toHaveProperty('access_token')
    expect(await judged(contractToken(consented))).toContain(fix('code_used'))
    expect(dataOf(await client.userInfo(tokens.access_token))).toHaveProperty('uinfo')
  })

  it('counts as no failure and is not listed among the refused requests', async () => {
    const recorded = async () =>
      (await world.pool.query('select 1 from failed_attempt union all select 1 from refused_request')).rowCount
    const before = await recorded()
    for (let n = 0; n < 3; n++) await judged(contractToken({ app_secret: `wrong-${n}` }))
    expect(await recorded()).toBe(before)
  })

  it('of another team reveals nothing about the app', async () => {
    const other = await founder(world)
    const answers = [
      await judged(contractToken(), other),
      await judged(contractToken({ app_secret: 'wrong' }), other),
      await judged(contractUrl({ redirect_uri: 'https://x.example/' }), other),
      // With an app of their own in the form.
      await judged(
        standardToken(
          { client_id: await registered(other), client_secret: undefined },
          `Content-Type: ${FORM}\r\nAuthorization: ${basicOf(app.app_key, app.app_secret)}`,
        ),
        other,
      ),
    ]
    for (const answer of answers) {
      expect(answer).toContain(t('developer.helpers.not_yours'))
      expect(answer).not.toContain(t('developer.failures.registered'))
      expect(answer).not.toContain(t('developer.failures.fix'))
    }
  })

  it('has its secrets neither shown nor logged', async () => {
    const html = await helper('request', {
      request: standardToken({ code: 'ghac_abcdefghijklmnop', x_typo: 'surprise' }),
    })
    expect(resultIn(html)).toContain('x_typo in the form not shown; length 8 not read here')
    expect(resultIn(html)).toContain(`client_id in the form ${app.app_key}`)
    const secrets = [app.app_secret, 'ghac_abcdefghijklmnop', verifier, 'surprise']
    for (const secret of secrets) {
      expect(html).not.toContain(secret)
      expect(world.logged()).not.toContain(secret)
    }
  })

  it('may have 16 KiB at most', async () => {
    expect(await judged(`${home()}/oauth2/authorize?x=${'a'.repeat(20_000)}`)).toContain(
      t('developer.helpers.unreadable'),
    )
    const flood = await owner.browser.send('POST', '/developer/helpers/request', { request: 'a'.repeat(200_000) })
    expect(flood.status).toBe(400)
  })
})

describe('a pasted request with an access token', () => {
  const right = 'Nothing is wrong with it.'
  const read = (what: 'get_userinfo' | 'get_phonenumber', access_token: string) =>
    `curl -X POST '${home()}/oauth/v2/api/resource/${what}?${queryOf({ access_token })}'`
  const userInfo = (access_token: string) => `curl ${home()}/oauth2/userinfo -H 'Authorization: Bearer ${access_token}'`
  const tokens = async () =>
    tokenSetOf(await client.exchange(app, await client.getCode(person, app, { scope: 'USER_INFO' })))

  it('is judged as the endpoint would, wherever the token is', async () => {
    const { access_token: token, refresh_token } = await tokens()
    const asForm = `POST /oauth2/userinfo HTTP/1.1\r\nContent-Type: ${FORM}\r\n\r\naccess_token=${token}`
    const cases: [request: string, expected: string][] = [
      [read('get_userinfo', token), right],
      [`${home()}/oauth/v2/api/resource/get_userinfo?access_token=${token}`, right],
      [userInfo(token), right],
      [`curl --oauth2-bearer ${token} ${home()}/oauth2/userinfo`, right],
      [asForm, right],
      [read('get_phonenumber', token), t('developer.fix.scope_not_held')],
      [read('get_userinfo', refresh_token), t('developer.fix.refresh_as_access')],
      [userInfo(refresh_token), t('developer.fix.refresh_as_access')],
      [read('get_userinfo', altered(token)), t('developer.fix.access_token')],
      [`curl '${home()}/oauth2/userinfo?access_token=${token}'`, t('developer.fix.bearer')],
      [`curl ${home()}/oauth2/userinfo`, t('developer.fix.bearer')],
      [`curl -X GET ${home()}/oauth2/userinfo -d access_token=${token}`, t('developer.fix.bearer')],
      [`curl -X POST '${home()}/oauth2/userinfo?access_token=${token}'`, t('developer.fix.query')],
      [`${asForm.replace('\r\n\r\n', `\r\nAuthorization: Bearer ${token}\r\n\r\n`)}`, t('developer.fix.token_once')],
      [`curl ${home()}/oauth/v2/api/resource/get_userinfo -d access_token=${token}`, t('developer.fix.body')],
      [read('get_userinfo', token).replace('POST', 'GET'), t('developer.fix.method')],
    ]
    for (const [request, expected] of cases)
      expect([request, await judged(request)]).toEqual([request, expect.stringContaining(expected)])
  })

  it('returns no personal data, counts as no read, and has its token neither shown nor logged', async () => {
    const { access_token: token } = await tokens()
    const counted = async () => {
      await world.app.accessLedger.flush()
      const { rows } = await world.pool.query(
        'select (select coalesce(sum(reads), 0) from data_access) + (select count(*) from refused_request) as n',
      )
      return rows[0].n
    }
    const before = await counted()
    world.deps.metrics.usage.take()
    for (const request of [read('get_userinfo', token), userInfo(token), read('get_phonenumber', token)]) {
      const html = await helper('request', { request })
      expect(html).not.toContain(token.slice(0, 20))
      expect(html).not.toContain('Test Alice')
    }
    expect(await counted()).toBe(before)
    expect(world.deps.metrics.usage.take().filter(({ kind }) => kind === 'read')).toEqual([])
    expect(world.logged()).not.toContain(token.slice(0, 20))
    expect(dataOf(await client.userInfo(token))).toHaveProperty('uinfo')
    expect(await counted()).not.toBe(before)
  })

  it('reveals nothing about a token of another team’s app, wherever it is', async () => {
    const { access_token: token } = await tokens()
    const other = await founder(world)
    const withdrawn = (await tokens()).access_token
    for (const request of [read('get_userinfo', token), userInfo(token), read('get_phonenumber', withdrawn)]) {
      const answer = await judged(request, other)
      expect(answer).toContain(t('developer.helpers.token_not_yours'))
      expect(answer).not.toContain(right)
      expect(answer).not.toContain(t('developer.failures.fix'))
    }
    // With a form as well, which is not read.
    const twice = `curl -X POST '${home()}/oauth2/userinfo?access_token=${token}' -d access_token=ghat_x`
    expect(await judged(twice, other)).toContain(t('developer.helpers.token_not_yours'))
  })
})

describe('pasted text', () => {
  it.each([
    [
      'curl with quotes, escapes and several lines',
      `curl -i -X POST 'https://a.example/t?a=1' \\\n  -H "X-A: \\"b\\"" \\\n  --data-urlencode 'c=d e&f'`,
      { method: 'POST', origin: 'https://a.example', url: '/t?a=1', body: 'c=d%20e%26f' },
    ],
    [
      'curl with -u and -d',
      `curl -u id:se:cret https://a.example/t -d a=1 -d b=2`,
      {
        method: 'POST',
        body: 'a=1&b=2',
        headers: { 'content-type': FORM, authorization: `Basic ${btoa('id:se:cret')}` },
      },
    ],
    [
      'curl as copied from a browser, with a quote and an exclamation mark',
      String.raw`curl 'https://a.example/t' --data-raw $'state=it\'s\u0021&b=\\n'`,
      { url: '/t', body: String.raw`state=it's!&b=\n` },
    ],
    [
      'curl with a backslash in single quotes, which escapes nothing',
      String.raw`curl -d 'a=\' -d 'b=2' https://a.example/t`,
      { url: '/t', body: String.raw`a=\&b=2` },
    ],
    ['curl with -G', `curl -G https://a.example/t?x=1 -d a=1`, { method: 'GET', url: '/t?x=1&a=1', body: null }],
    [
      'curl with combined short options and attached values',
      `curl -sSX POST -uid:secret -HX-A:b 'https://a.example/t' -da=1`,
      { method: 'POST', url: '/t', body: 'a=1', headers: { 'x-a': 'b', authorization: `Basic ${btoa('id:secret')}` } },
    ],
    [
      'curl with irrelevant options after the address',
      `curl --location --request POST 'https://a.example/t' --data a=1 --connect-timeout 5 --retry 3 -o /dev/null -kD- --compressed`,
      { method: 'POST', origin: 'https://a.example', url: '/t', body: 'a=1' },
    ],
    [
      'curl with a multipart form, as Postman and PHP send it',
      `curl --location 'https://a.example/t' --form 'a="1"' -F b=2`,
      { method: 'POST', url: '/t', body: 'a="1"&b=2', headers: { 'content-type': 'multipart/form-data' } },
    ],
    [
      'curl without a scheme',
      'curl LocalHost:3000/t?a=1',
      { method: 'GET', origin: '//localhost:3000', url: '/t?a=1' },
    ],
    ['curl -I', 'curl -sI https://a.example/t', { method: 'HEAD', url: '/t', body: null }],
    ['an address', 'https://A.example:1/p?q=1#f', { method: null, origin: 'https://a.example:1', url: '/p?q=1' }],
    ['a path', '/p?q=1', { method: null, origin: null, url: '/p?q=1' }],
    [
      'HTTP',
      'POST /t HTTP/1.1\nHost: A.example\nContent-Type: x\n\na=1',
      { method: 'POST', origin: '//a.example', body: 'a=1', headers: { host: 'A.example', 'content-type': 'x' } },
    ],
  ])('is parsed as a request: %s', (_name, text, expected) => {
    expect(parsePasted(text)).toMatchObject(expected)
  })
  it.each(['', 'curl', 'hello there', 'ftp://a.example/', 'POST', 'curl --url'])(
    'is not parsed as a request: %j',
    (text) => {
      expect(parsePasted(text)).toBeUndefined()
    },
  )
})

describe('an id_token', () => {
  const read = async (id_token: string) => resultIn(await helper('id-token', { id_token }))
  const issued = async () => {
    const answer = await client.call(
      'POST',
      '/oauth2/token',
      { 'content-type': FORM },
      tokenForm({ code: await standardCode() }),
    )
    return String(bodyOf(answer).id_token)
  }

  it('is verified, and each claim is explained', async () => {
    const shown = await read(await issued())
    for (const id of ['signature_right', 'iss_ours', 'aud_own', 'in_time'])
      expect(shown).toContain(t(`developer.id_token.${id}`))
    expect(shown).toContain(`aud ${t('developer.claim.aud')} ${app.app_key}`)
    expect(shown).not.toContain('Wrong')
  })

  it('that is expired, altered, or of another issuer is reported as such', async () => {
    const token = await issued()
    const [head, , signature] = token.split('.')
    const changed = Buffer.from(JSON.stringify({ iss: 'https://x.example', aud: 'x' })).toString('base64url')
    const shown = await read(`${head}.${changed}.${signature}`)
    for (const id of ['signature_wrong', 'iss_other', 'aud_other', 'expired'])
      expect(shown).toContain(t(`developer.id_token.${id}`))
    const { privateKey } = await generateKeyPair('RS256')
    const foreign = new SignJWT({ iat: epochSeconds(world.clock.now()) + 600 }).setProtectedHeader({
      alg: 'RS256',
      kid: 'x',
    })
    const judged = await read(await foreign.sign(privateKey))
    for (const id of ['signature_foreign', 'clock']) expect(judged).toContain(t(`developer.id_token.${id}`))
    world.clock.advance(3_601)
    expect(await read(token)).toContain(t('developer.id_token.expired'))
  })

  it.each(['', 'ghat_x', 'a.b.c', `${'a'.repeat(9_000)}.b.c`, '..'])('is not recognized in %.20s', async (text) => {
    expect(await read(text)).toContain(t('developer.id_token.none'))
  })
})

describe('a jsTicket', () => {
  const token = `ghat_${'x'.repeat(70)}`
  const md5 = async (text: string) => (await import('node:crypto')).createHash('md5').update(text).digest('hex')
  const base64 = btoa(token)
  it('is computed, and the mistake in a wrong one is identified', async () => {
    const right = jsTicket(token)
    const made: Record<string, string> = {
      right,
      upper_case: right.toUpperCase(),
      no_base64: await md5(token),
      newline: await md5(`${base64}\n`),
      newline_before: jsTicket(`${token}\n`),
      wrapped: await md5(`${base64.slice(0, 76)}\n${base64.slice(76)}`),
      digest_base64: Buffer.from(right, 'hex').toString('base64'),
      base64_only: base64,
      unknown: 'x',
    }
    for (const [id, own] of Object.entries(made)) {
      const shown = resultIn(await helper('js-ticket', { access_token: token, own }))
      expect(shown).toContain(t(`developer.js_ticket.${id}`))
      expect(shown).toContain(right)
    }
    expect(await helper('js-ticket', { access_token: token })).not.toContain(token)
  })

  it('requires an access token', async () => {
    expect(resultIn(await helper('js-ticket', { access_token: 'ghrt_x' }))).toContain(
      t('developer.js_ticket.not_access'),
    )
    expect(resultIn(await helper('js-ticket', {}))).toContain(t('developer.js_ticket.none'))
  })
})

it('the helpers page shows both dialects with the values of one’s own app', async () => {
  const { text } = await owner.browser.open('/developer/helpers')
  const shown = visibleText(text)
  for (const part of [
    `app_key=${app.app_key}`,
    `client_id=${app.app_key}`,
    'scope=USER_INFO&',
    'scope=openid+profile+offline_access',
  ]) {
    expect(shown).toContain(part)
  }
  expect(text).not.toContain(app.app_secret)
})
