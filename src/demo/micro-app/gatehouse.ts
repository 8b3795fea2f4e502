/** The settings of a micro-app's server. The secret must never reach the browser. */
export interface Client {
  /** Where the micro-app's server reaches Gatehouse. */
  readonly apiUrl: string
  /** Where the user's browser reaches Gatehouse. */
  readonly authUrl: string
  readonly appKey: string
  readonly appSecret: string
  readonly redirectUri: string
}

/** The most sign-ins in progress per browser; another one displaces the oldest. */
export const MAX_PENDING = 10

/** The envelope of every response: rescode 0 and the payload, or another rescode and data.message. */
export interface Envelope {
  readonly rescode: number
  readonly data: Readonly<Record<string, unknown>>
}

/** A1: where to send the user. */
export function authorizeUrl(client: Client, state: string): string {
  const url = new URL('/oauth/v2/authorize', client.authUrl)
  url.search = new URLSearchParams({
    app_key: client.appKey,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope: 'USER_INFO PHONE_NUMBER',
    state,
  }).toString()
  return url.href
}

/** A2: exchanges the code for tokens. */
export const exchangeCode = (client: Client, code: string, state: string): Promise<Envelope> =>
  post(client, '/oauth/v2/api/token', {
    app_key: client.appKey,
    app_secret: client.appSecret,
    grant_type: 'authorization_code',
    code,
    state,
    redirect_uri: client.redirectUri,
  })

/** A3: gets a new access token. */
export const refresh = (client: Client, refreshToken: string): Promise<Envelope> =>
  post(client, '/oauth/v2/api/token', {
    app_key: client.appKey,
    app_secret: client.appSecret,
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
  })

/** A4 */
export const phoneNumber = (client: Client, accessToken: string): Promise<Envelope> =>
  post(client, '/oauth/v2/api/resource/get_phonenumber', { access_token: accessToken })

/** A5 */
export const userInfo = (client: Client, accessToken: string): Promise<Envelope> =>
  post(client, '/oauth/v2/api/resource/get_userinfo', { access_token: accessToken })

async function post(client: Client, path: string, query: Record<string, string>): Promise<Envelope> {
  const url = new URL(`${path}?${new URLSearchParams(query)}`, client.apiUrl)
  return (await (await fetch(url, { method: 'POST' })).json()) as Envelope
}
