import { readFileSync } from 'node:fs'
import type { Config } from '../../platform/config/index.ts'
import { ROOT } from '../../platform/lib/root.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { OwnApp } from './own-values.ts'

/** "Connect in five minutes": programs that sign a person in with an existing library. */

/** Values for `{{name}}` in a snippet. */
type SnippetValues = Readonly<Record<'issuer' | 'clientId' | 'clientSecret', string>>

export type ContractValues = SnippetValues & Readonly<Record<'api' | 'scope', string>>

/** The demo's apps; a test compares them with src/demo/seed.ts. */
const DEMO = { clientId: 'demo-oidc', clientSecret: 'demo-oidc-secret-for-local-use-only' }
const CONTRACT_DEMO = { clientId: 'demo-app', clientSecret: 'demo-secret-for-local-use-only' }

type Language = Readonly<Record<'id' | 'name' | 'install', string>>

/** Server-side apps, which can keep a secret. */
export const SERVER_LANGUAGES: readonly Language[] = [
  { id: 'node', name: 'Node.js · openid-client', install: 'npm install openid-client' },
  { id: 'python', name: 'Python · Authlib', install: 'pip install authlib flask requests' },
  {
    id: 'java',
    name: 'Java · Spring Security',
    install: 'org.springframework.boot: spring-boot-starter-web, spring-boot-starter-oauth2-client',
  },
  {
    id: 'go',
    name: 'Go · x/oauth2, go-oidc',
    install: 'go get golang.org/x/oauth2 github.com/coreos/go-oidc/v3/oidc',
  },
  { id: 'php', name: 'PHP · league/oauth2-client', install: 'composer require league/oauth2-client' },
  {
    id: 'csharp',
    name: 'C# · ASP.NET Core',
    install: 'dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect',
  },
]

/** In the contract's dialect, without libraries. */
export const CONTRACT_LANGUAGES: readonly Language[] = [
  { id: 'contract-node', name: 'Node.js', install: '' },
  { id: 'contract-python', name: 'Python', install: '' },
]

/** Public clients: PKCE instead of a secret. */
export const PUBLIC_LANGUAGES: readonly Language[] = [
  { id: 'browser', name: 'Browser · oauth4webapi', install: 'npm install oauth4webapi' },
  { id: 'ios', name: 'iOS · AppAuth', install: 'https://github.com/openid/AppAuth-iOS' },
  { id: 'android', name: 'Android · AppAuth', install: "implementation 'net.openid:appauth:0.11.1'" },
]

const FOLDER = new URL('views/developer/snippets/', ROOT)

/** Cache: by URL; the files never change while the program runs. */
const texts = new Map<string, string>()
function textAt(url: URL): string {
  const text = texts.get(url.href) ?? readFileSync(url, 'utf8')
  texts.set(url.href, text)
  return text
}

export const snippetOf = (id: string, values: SnippetValues, folder = FOLDER): string =>
  textAt(new URL(`${id}.txt`, folder)).replace(
    /\{\{(\w+)\}\}/g,
    (_whole, name: string) => values[name as keyof SnippetValues] ?? '',
  )

/** Third-party software that can use Gatehouse as its OpenID provider. */
interface Program {
  /** Names the file of its settings, and its texts in the locales. */
  readonly id: string
  readonly name: string
  readonly callback: string
  /** Whether our tests run it with these settings; otherwise they come from its documentation. */
  readonly tested: boolean
}

export const PROGRAMS: readonly Program[] = [
  { id: 'oauth2-proxy', name: 'oauth2-proxy', callback: '/oauth2/callback', tested: true },
  { id: 'mod_auth_openidc', name: 'Apache · mod_auth_openidc', callback: '/callback', tested: true },
  { id: 'django', name: 'Django · mozilla-django-oidc', callback: '/oidc/callback/', tested: true },
  { id: 'authjs', name: 'Auth.js (NextAuth)', callback: '/api/auth/callback/gatehouse', tested: true },
  { id: 'passport', name: 'passport-openidconnect', callback: '/callback', tested: true },
  { id: 'grafana', name: 'Grafana', callback: '/login/generic_oauth', tested: false },
  { id: 'gitlab', name: 'GitLab', callback: '/users/auth/openid_connect/callback', tested: false },
  { id: 'keycloak', name: 'Keycloak', callback: '/realms/my-realm/broker/gatehouse/endpoint', tested: false },
]

const PROGRAMS_FOLDER = new URL('views/developer/programs/', ROOT)

export const settingsOf = (id: string, values: SnippetValues): string => snippetOf(id, values, PROGRAMS_FOLDER)

/** The phone scope as written in each language; removed for apps without it. */
const PHONE = /, "phone"|, OIDScopePhone|(?<=profile) phone\b/g
/** Callback of the snippets, which run on the reader's machine. */
export const LOCAL_CALLBACK = 'http://127.0.0.1:8080/callback'

/** Data of the page, with the values of the reader's app, or else of the demo, or else placeholders. */
export function quickstart(config: Config, t: Translate, own?: OwnApp) {
  const placeholders = { clientId: 'your-client-id', clientSecret: 'your-client-secret' }
  const shown = own ? { ...placeholders, clientId: own.app_key } : config.DEMO ? DEMO : placeholders
  const values = { issuer: config.PUBLIC_URL, ...shown }
  const isPublic = own !== undefined && own.kind !== 'server'
  // Public clients have no secret, so they need an app of their own.
  const publicClient = { ...values, clientId: isPublic ? own.app_key : 'your-public-client-id', clientSecret: '' }
  const holdsPhone = own === undefined || own.scopes.includes('PHONE_NUMBER')
  const inContract: ContractValues = {
    ...values,
    api: config.API_URL,
    scope: (own && !isPublic ? own.scopes : SCOPES).join(' '),
    ...(isPublic ? placeholders : own || !config.DEMO ? {} : CONTRACT_DEMO),
  }
  const filled = (languages: readonly Language[], given: SnippetValues) =>
    languages.map((language) => {
      const source = snippetOf(language.id, given)
      return { ...language, source: holdsPhone ? source : source.replace(PHONE, '') }
    })
  return {
    ...values,
    demo: config.DEMO && own === undefined,
    isPublic,
    scopes: `openid profile${holdsPhone ? ' phone' : ''} offline_access`,
    callback: LOCAL_CALLBACK,
    redirectUris: own?.redirect_uris ?? [],
    lacksCallback: own !== undefined && !own.redirect_uris.includes(LOCAL_CALLBACK),
    servers: filled(SERVER_LANGUAGES, isPublic ? { ...values, ...placeholders } : values),
    contract: filled(CONTRACT_LANGUAGES, inContract),
    clients: filled(PUBLIC_LANGUAGES, publicClient),
    programs: PROGRAMS.map((program) => ({
      ...program,
      person: t(`connect.program.${program.id.replaceAll('-', '_')}.person`),
      pkce: t(`connect.program.${program.id.replaceAll('-', '_')}.pkce`),
      // Not the demo's app: each program is registered as an app of its own.
      source: settingsOf(program.id, { ...values, ...placeholders, clientId: own?.app_key ?? placeholders.clientId }),
    })),
  }
}
