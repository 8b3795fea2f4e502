import { once } from 'node:events'
import { connect } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, dataOf, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, StandardApp } from '../oidc/app.ts'
import { until } from '../until.ts'

/** Uploading a profile picture. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({ PUBLIC_URL: 'http://localhost:8000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

let serial = 0
async function signedIn(): Promise<{ user: User; browser: Browser }> {
  const user = await client.makeUser({ passport: `pictured${++serial}@example.com` })
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  return { user, browser }
}
const canvas = (width = 600, height = 400) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } })
const WHERE = { IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '31/1 13/1 0/1', GPSLongitudeRef: 'E' } }

async function upload(browser: Browser, file: Buffer, { name = 'picture', type = 'image/png', where = world } = {}) {
  const form = new FormData()
  form.append(name, new Blob([new Uint8Array(file)], { type }), 'me.png')
  const sent = new Response(form)
  const answer = await where.app.inject({
    method: 'POST',
    url: '/account/profile/picture',
    headers: {
      cookie: browser.cookieHeader,
      'sec-fetch-site': 'same-origin',
      'content-type': sent.headers.get('content-type') ?? '',
    },
    payload: Buffer.from(await sent.arrayBuffer()),
  })
  return { status: answer.statusCode, location: answer.headers.location }
}
const avatarOf = async ({ user_id }: User): Promise<string> =>
  (await world.pool.query('select big_avatar_url as url from user_profile where user_id = $1', [user_id])).rows[0].url
const fetchPicture = (url: string) => world.app.inject({ method: 'GET', url: new URL(url).pathname })
const pictureCount = async () => (await world.pool.query('select from profile_picture')).rowCount
const SAVED = { status: 303, location: '/account/profile?done=saved' }
const UNFIT = { status: 303, location: '/account/profile?refused=unfit' }

describe('an uploaded picture', () => {
  it.each([
    ['PNG', () => canvas().png().toBuffer()],
    ['JPEG', () => canvas().jpeg().withExif(WHERE).toBuffer()],
    ['WebP', () => canvas(90, 3_000).webp().withExif(WHERE).toBuffer()],
  ])('(%s) is public and shown to apps, without EXIF data', async (_name, make) => {
    const { user, browser } = await signedIn()
    const file = await make()
    expect(await upload(browser, file, { type: 'text/html' })).toEqual(SAVED)
    const url = await avatarOf(user)
    expect(url).toMatch(/^http:\/\/localhost:8000\/pictures\/\d+\/[0-9a-f-]{36}\.jpg$/)
    const shown = await fetchPicture(url)
    expect(shown.statusCode).toBe(200)
    expect(shown.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    })
    const { format, width, height, exif } = await sharp(shown.rawPayload).metadata()
    expect({ format, width, height, exif }).toEqual({ format: 'jpeg', width: 512, height: 512, exif: undefined })
    expect(shown.rawPayload.length).toBeLessThan(100_000)
    const rp = await StandardApp.make(client)
    const { access_token } = await rp.tokens(client.newBrowser(), user)
    expect(bodyOf(await rp.userInfo(access_token)).picture).toBe(url)
    expect(dataOf(await client.userInfo(access_token))).toMatchObject({ uinfo: { big_avatar_url: url } })
    expect((await browser.open('/account/profile')).text).toContain(url)
  })

  it('is removed when another one is uploaded or a URL is entered', async () => {
    const { user, browser } = await signedIn()
    await upload(browser, await canvas().png().toBuffer())
    const first = await avatarOf(user)
    await upload(browser, await canvas().png().toBuffer())
    const second = await avatarOf(user)
    expect([(await fetchPicture(first)).statusCode, (await fetchPicture(second)).statusCode]).toEqual([404, 200])
    const typed = { big_avatar_url: 'https://pictures.example/a.png' }
    expect((await browser.send('POST', '/account/profile', typed)).status).toBe(303)
    expect((await fetchPicture(second)).statusCode).toBe(404)
  })

  it('is removed when an operator sets another one', async () => {
    const { user, browser } = await signedIn()
    await upload(browser, await canvas().png().toBuffer())
    const url = await avatarOf(user)
    const picture = { big_avatar_url: 'https://pictures.example/none.png' }
    await client.admin('POST', '/users/update', { cid: user.cid, user_id: user.user_id, ...picture })
    expect((await fetchPicture(url)).statusCode).toBe(404)
  })

  it('is removed when the person is erased', async () => {
    const { user, browser } = await signedIn()
    await upload(browser, await canvas().png().toBuffer())
    const url = await avatarOf(user)
    expect((await browser.open('/account/data')).text).toContain('Uploaded picture')
    await client.admin('POST', '/users/erase', { cid: user.cid, user_id: user.user_id })
    expect((await fetchPicture(url)).statusCode).toBe(404)
  })
})

describe('an unsuitable upload', () => {
  it.each<[string, () => Buffer | Promise<Buffer>]>([
    ['nothing', () => Buffer.alloc(0)],
    ['a page', () => Buffer.from('<html><script>alert(1)</script>')],
    ['an SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['a GIF', () => Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')],
    ['a TIFF', () => canvas(9, 9).tiff().toBuffer()],
    ['half a picture', async () => (await canvas().jpeg().toBuffer()).subarray(0, 700)],
    ['the beginning of a PNG', () => Buffer.from('89504e470d0a1a0a', 'hex')],
    ['a picture that is too wide', () => canvas(5_000, 10).png().toBuffer()],
    ['a picture of twenty million pixels', () => canvas(4_600, 4_600).png().toBuffer()],
  ])('is refused: %s', async (_name, make) => {
    const { user, browser } = await signedIn()
    const before = [await avatarOf(user), await pictureCount()]
    expect(await upload(browser, await make())).toEqual(UNFIT)
    expect([await avatarOf(user), await pictureCount()]).toEqual(before)
    expect((await browser.open('/account/profile?refused=unfit')).text).toContain('The file is no PNG, JPEG or WebP')
  })

  it('is refused if it is too large or far too large', async () => {
    const { browser } = await signedIn()
    const large = { status: 303, location: '/account/profile?refused=large' }
    expect(await upload(browser, Buffer.alloc(512 * 1024 + 1))).toEqual(large)
    expect((await upload(browser, Buffer.alloc(3 * 1024 * 1024))).status).toBe(413)
  })

  it('is refused in a field with another name, and the connection stays usable', async () => {
    const { browser } = await signedIn()
    const at = new URL(await world.app.listen({ port: 0, host: '127.0.0.1' }))
    const file = '--B\r\nContent-Disposition: form-data; name="other"; filename="a.png"\r\n\r\n'
    const body = `${file}${'x'.repeat(1_500_000)}\r\n--B--\r\n`
    const head = `Host: localhost:8000\r\nSec-Fetch-Site: same-origin\r\nCookie: ${browser.cookieHeader}\r\n`
    const socket = connect(Number(at.port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const statuses: string[] = []
    socket.on('data', (data) => statuses.push(...(String(data).match(/^HTTP\/1\.1 \d+/gm) ?? [])))
    const type = `Content-Type: multipart/form-data; boundary=B\r\nContent-Length: ${body.length}\r\n`
    socket.write(`POST /account/profile/picture HTTP/1.1\r\n${head}${type}\r\n${body}`)
    socket.write(`GET /account/profile HTTP/1.1\r\n${head}\r\n`)
    await until(() => statuses.length === 2)
    expect(statuses).toEqual(['HTTP/1.1 303', 'HTTP/1.1 200'])
  })

  it('does not block other forms, even if many are announced and never sent', async () => {
    const other = await openWorld({ PUBLIC_URL: 'http://localhost:8000' })
    onTestFinished(() => other.close())
    const at = new URL(await other.app.listen({ port: 0, host: '127.0.0.1' }))
    const form = 'Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 2097152\r\n'
    const sockets = Array.from({ length: 9 }, () => {
      const socket = connect(Number(at.port), '127.0.0.1').on('error', () => {})
      socket.write(`POST /account/profile/picture HTTP/1.1\r\nHost: localhost:8000\r\n${form}\r\n`)
      return socket
    })
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    // The ninth is refused, as the others hold the whole budget for uploads.
    await Promise.race(sockets.map((socket) => once(socket, 'data')))
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = async (path: string) =>
      (await fetch(new URL(path, at), { method: 'POST', headers, body: 'a=b' })).status
    for (const path of ['/sign-in', '/password', '/oauth2/token']) expect(await post(path), path).not.toBe(503)
  })

  it('is refused as another form', async () => {
    const { browser } = await signedIn()
    expect(await upload(browser, await canvas().png().toBuffer(), { name: 'other' })).toEqual(UNFIT)
    expect((await browser.send('POST', '/account/profile/picture', { picture: 'x' })).status).toBe(415)
  })
})

describe('the upload form', () => {
  it('is refused from another site, without a session, and if the platform owns the picture', async () => {
    const { browser } = await signedIn()
    const file = await canvas().png().toBuffer()
    expect(await upload(client.newBrowser(), file)).toMatchObject({
      location: '/sign-in?return_to=%2Faccount%2Fprofile%23unsent&ended=1',
    })
    const headers = { cookie: browser.cookieHeader, 'sec-fetch-site': 'cross-site', 'content-length': '1' }
    expect((await client.call('POST', '/account/profile/picture', headers, 'x')).status).toBe(403)
    const owned = await openWorld({ PROFILE_OWNED: 'avatar' })
    try {
      const by = new Client(injectWire(owned.app), owned.deps.config.PUBLIC_URL)
      const user = await by.makeUser()
      const theirs = by.newBrowser()
      await theirs.send('POST', '/sign-in', { passport: user.passport, password: user.password })
      expect((await theirs.open('/account/profile')).text).not.toContain('/account/profile/picture')
      expect((await upload(theirs, file, { where: owned })).status).toBe(404)
    } finally {
      await owned.close()
    }
  })
})
