import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visibleText } from './acceptance/form.ts'
import { type Person, signedIn } from './console/person.ts'
import { openWorld, type World } from './harness.ts'
import { newSandboxPartner, sessionOf } from './sandbox/partners.ts'
import { APP_FORM, type Developer, founder } from './teams/people.ts'

/** Problems of a form are shown in the language of its page, with the field names used there. */

let world: World
let owner: Developer & { team: string }
let admin: Person
beforeAll(async () => {
  world = await openWorld()
  owner = await founder(world)
  admin = (await signedIn(world, 'admin')).person
})
afterAll(() => world?.close())

const TWO_WORDS = /[a-z]{2,} [a-z]{2,}/

/** All problems shown on the page. */
function problemsIn(html: string): string[] {
  const [, list = ''] = /(?:<ul class="terms problems">|role="alert">)([\s\S]*?)<\/ul>/.exec(html) ?? []
  const problems = [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, problem = '']) => visibleText(problem).trim())
  expect(list).not.toContain('lang="en"')
  for (const problem of problems) expect(problem).not.toMatch(TWO_WORDS)
  return problems
}

describe('the form of an app', () => {
  const send = async (changes: object) => {
    const path = `/developer/teams/${owner.team}/apps?ui_locales=zh-CN`
    const { status, text } = await owner.browser.send('POST', path, { ...APP_FORM, ...changes })
    expect(status).toBe(400)
    return problemsIn(text)
  }

  it.each<[object, string[]]>([
    [{ name: '' }, ['名称 不能为空']],
    [{ name: 'x'.repeat(101), kind: '' }, ['名称 最多 100 个字符', '代码运行位置 必须是 server 或 page 或 native']],
    [
      { redirect_uris: 'http://localhost:8000/callback\nftp://host/\nhttps://host/#f\nhttps://host/?code=1' },
      [
        '回调地址（第 2 项） 必须是以 http:// 或 https:// 开头的完整 URL',
        '回调地址（第 3 项） 不能带片段',
        '回调地址（第 4 项） 查询参数中不能有 code、state、iss、error 或 error_description',
      ],
    ],
    [{ redirect_uris: '' }, ['回调地址 未填写域名时必填']],
    [
      { hosts: 'http://host\nhost:99999\n*.co.uk' },
      [
        '域名（第 1 项） 只填主机名，不带协议：example.com',
        '域名（第 2 项） 端口不在 1 到 65535 之间',
        '域名（第 3 项） “*.”之后不能只是 co.uk、github.io 之类的公共后缀，其下任何人都能注册主机',
      ],
    ],
    [{ logo_url: 'https://u:p@host/' }, ['图标地址 不能包含用户名或密码']],
    [{ reason_USER_INFO: '' }, ['用途：您的基本信息 必填']],
  ])('shows problems in Chinese: %o', async (changes, said) => {
    expect(await send(changes)).toEqual(said)
  })
})

describe('a form of the console', () => {
  const send = async (path: string, fields: Record<string, string>) => {
    const given = { ...(await admin.hidden(path)), ...fields }
    const { status, text } = await admin.post(path, given, { 'accept-language': 'zh-CN' })
    expect(status).toBe(400)
    return problemsIn(text)
  }

  it('says in Chinese that an operation is not possible now', async () => {
    const made = { partner_id: '7001', client_id: 'seller', name: 'Seller' }
    await admin.submit('/console/-/partners/new', made)
    expect(await send('/console/partners/7001/switch-signing', {})).toEqual([
      '平台的调用已用最新密钥签名；如需新密钥，请使用 rotate-secret',
    ])
    await admin.submit('/console/partners/7001/rotate-secret', {})
    expect(await send('/console/partners/7001/switch-signing', {})).toEqual([
      '使用新密钥的测试调用失败，平台的调用仍用旧密钥签名：未登记“心跳”的 URL',
    ])
  })

  it.each<[string, Record<string, string>, string[]]>([
    [
      '/console/-/apps/new',
      { name: 'a', scopes: '', redirect_uris: 'x', refresh_days: '8' },
      [
        '重定向 URI（第 1 项） 必须是以 http:// 或 https:// 开头的完整 URL',
        '权限 必填',
        '刷新令牌有效天数 必须是 7 或 30 或 60 或 90',
      ],
    ],
    [
      '/console/users/new',
      { cid: 'x', user_id: '', password: 'short', phone_number: '1' },
      [
        'cid 必须是数字',
        'user_id 必填',
        '通行证账号 必填',
        '密码 至少要有 8 个字符',
        '名称 必填',
        '头像 必填',
        '手机号 必须是 5 到 20 位数字，开头可以有 +',
      ],
    ],
    [
      '/console/-/partners/new',
      { client_id: 'a b', base_url: 'https://host/?q=1', interface_urls: 'x=y' },
      [
        'clientId 须为 1 到 64 个可见 ASCII 字符，不含空白和冒号',
        '名称 必填',
        '基础地址 不能带查询参数',
        '单独配置的接口地址：x 必须是以 http:// 或 https:// 开头的完整 URL',
      ],
    ],
    [
      '/console/-/operators/new',
      { name: '-', role: 'king', days: '0' },
      [
        '名称 须为 1 到 64 个字母、数字或 . _ @ -，且以字母或数字开头',
        '角色 必须是 viewer 或 support 或 editor 或 admin',
        '令牌有效天数 不能小于 1',
      ],
    ],
  ])('shows problems in Chinese: %s %o', async (path, fields, said) => {
    expect(await send(path, fields)).toEqual(said)
  })
})

it('a label and its value are separated by the colon of the language', async () => {
  await admin.submit('/console/-/partners/new', { partner_id: '7002', client_id: 'colon', name: 'Colon' })
  const at = async (path: string, locale: string) => (await admin.get(`${path}?ui_locales=${locale}`)).text
  const heading = (html: string) => visibleText(/<h1>([\s\S]*?)<\/h1>/.exec(html)?.[1] ?? '').trim()
  const form = '/console/partners/7002/switch-signing'
  expect(heading(await at(form, 'en'))).toMatch(/^[^:]+: \S+$/)
  for (const path of [form, '/console/partners/7002'])
    expect(heading(await at(path, 'zh-CN'))).toMatch(/^\p{Script=Han}[^:]*：\S+$/u)
  expect(visibleText(await at('/console/audit', 'zh-CN'))).toMatch(/[a-z_]+：\S/)
})

describe('an error page', () => {
  const browser = { accept: 'text/html', 'accept-language': 'zh-CN' }
  const authorize = '/oauth/v2/authorize?response_type=code'
  /** The text of the page without its heading, its advice and the request id. */
  async function messageAt(url: string, headers: Record<string, string> = {}, form?: string): Promise<string> {
    const sent = form === undefined ? {} : { method: 'POST' as const, payload: form }
    const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
    const { body } = await world.app.inject({ url, headers: { ...browser, ...type, ...headers }, ...sent })
    const [, said = ''] = /<dt>(?:错误码|服务返回的信息)<\/dt>\s*<dd[^>]*>([\s\S]*?)<\/dd>/.exec(body) ?? []
    expect(said).not.toContain('lang="en"')
    return visibleText(said).replaceAll(/\s+/g, ' ').trim()
  }

  it.each<[string, string]>([
    ['/nowhere', '20007 请求无效：路径不存在'],
    ['/oauth/v2/nowhere', '20007 请求无效：路径不存在'],
    ['/oauth/v2/authorize', '20007 请求无效：缺少 response_type'],
    ['/oauth/v2/authorize?response_type=token', '20018 不支持的 response_type：token；请使用 code'],
    [`${authorize}&app_key=nobody`, '20001 客户端凭据错误'],
    [`${authorize}&app_key=a&app_key=b`, '20007 请求无效：app_key 出现了两次'],
    [`${authorize}&app_key=%ff`, '20007 请求无效：app_key 无法解码'],
    ['/oauth/v2/consent', '20010 请求方法不被允许'],
    ['/oauth2/authorize?client_id=nobody', 'invalid_client 未知的客户端'],
    ['/oauth2/authorize?client_id=a&client_id=b', 'invalid_request client_id 出现了两次'],
    [
      '/oauth2/logout?post_logout_redirect_uri=x',
      'invalid_request 使用 post_logout_redirect_uri 时须提供 id_token_hint 或 client_id，以说明该地址属于哪个应用',
    ],
    ['/sandbox/sign-in?return_to=%C4%E3', '请求无效：return_to 不是有效的 UTF-8'],
    ['/sandbox/shared/1/none', '请求无效：测试不存在'],
  ])('shows its message in Chinese: %s', async (path, said) => {
    expect(await messageAt(path)).toBe(said)
  })

  it.each<[string, string, string]>([
    ['/sign-in', 'passport=%FF', '20007 请求无效：passport 不是有效的 UTF-8'],
    ['/sign-in', 'passport=\ufffd', '20007 请求无效：正文不是有效的 UTF-8（第 1 行，第 10 列）'],
  ])('shows its message in Chinese: %s %s', async (path, form, said) => {
    expect(await messageAt(path, { 'sec-fetch-site': 'same-origin' }, form)).toBe(said)
  })

  it('shows its message in Chinese to a person, a developer and an operator', async () => {
    const { browser: at } = owner
    const own = { cookie: at.cookieHeader }
    expect(await messageAt('/developer/teams/none', own)).toBe('20007 请求无效：路径不存在')
    expect(await messageAt('/developer/apps/none', own)).toBe('20007 请求无效：路径不存在')
    expect(await messageAt('/account/nowhere', own)).toBe('20007 请求无效：路径不存在')
    const operator = { cookie: `gatehouse_operator=${admin.cookie}` }
    for (const [path, said] of [
      ['apps/none', '小程序不存在'],
      ['partners/1', '合作方不存在'],
      ['orders/1', '订单 1 不存在'],
      ['operators/none', '运营人员不存在'],
      ['nowhere', '路径不存在'],
    ])
      expect(await messageAt(`/console/${path}`, operator), path).toBe(`请求无效：${said}`)
  })

  it('shows its message in Chinese to a seller', async () => {
    const cookie = await sessionOf(world, await newSandboxPartner(world, { partner_id: '7100', client_id: 'other' }))
    expect(await messageAt('/sandbox/traffic/in/1', { cookie })).toBe('请求无效：调用记录不存在')
    expect(await messageAt('/sandbox/run/00000000-0000-4000-8000-000000000000', { cookie })).toBe(
      '请求无效：测试不存在',
    )
    expect(await messageAt('/sandbox/nowhere', { cookie })).toBe('请求无效：路径不存在')
  })
})
