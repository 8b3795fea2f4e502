import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled } from '../../is-installed.ts'
import type { Command } from '../languages.ts'

/** Existing programs that run with the settings that /connect shows for them (views/developer/programs). */

export interface Program {
  /** The name of its settings on the page. */
  readonly id: string
  /** The reason why it cannot run on this machine, if any. */
  readonly missing: () => string | undefined
  /** Downloads the program; if that fails, it is not run. */
  readonly fetch: (folder: string) => readonly Command[]
  /** Files to write, by name. */
  readonly files: (settings: string, place: Place) => Readonly<Record<string, string>>
  /** A folder beside this file whose contents are copied too. */
  readonly beside?: string
  readonly prepare?: (folder: string) => readonly Command[]
  readonly start: (place: Place) => Command
  readonly environment?: (folder: string) => Readonly<Record<string, string>>
  /** The button that leads to the sign-in page. */
  readonly button?: string
  /**
   * The request header that tells the application behind it who signed in; without one, the program's page shows it.
   */
  readonly header?: string
}

interface Place {
  readonly folder: string
  /** The port that the program listens on, at 127.0.0.1. */
  readonly port: number
  /** The port of the application behind it, which shows the headers of each request. */
  readonly applicationPort: number
}

const OAUTH2_PROXY = 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6'
const APACHE = '/usr/sbin/apache2'
const MODULES = '/usr/lib/apache2/modules'
const LOADED = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'headers', 'proxy', 'proxy_http', 'auth_openidc']

const without = (program: string): string | undefined =>
  isInstalled(program) ? undefined : `this machine has no ${program}`

const withoutFile = (file: string): string | undefined =>
  existsSync(file) ? undefined : `this machine has no ${file} (Debian: libapache2-mod-auth-openidc)`

const inVenv = (folder: string, program: string): string => join(folder, 'venv', 'bin', program)

/** The minimum of Debian's /etc/apache2 that a virtual host needs. User and Group take effect only as root. */
const apache = (virtualHost: string, { folder, port, applicationPort }: Place): string => `
ServerRoot ${folder}
ServerName 127.0.0.1
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache2.pid
ErrorLog "|$/bin/cat >&2"
Listen 127.0.0.1:${port}
User www-data
Group www-data
${LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
<VirtualHost 127.0.0.1:${port}>
${virtualHost}
RequestHeader set X-Remote-User expr=%{REMOTE_USER}
ProxyPass / http://127.0.0.1:${applicationPort}/
</VirtualHost>
`

export const PROGRAMS: readonly Program[] = [
  {
    id: 'oauth2-proxy',
    missing: () => without('go'),
    // Modules and builds stay in Go's own folders, so only the first run takes a minute.
    fetch: () => [['go', 'install', OAUTH2_PROXY]],
    environment: (folder) => ({ GOBIN: folder }),
    files: (settings) => ({ 'oauth2-proxy.cfg': settings }),
    start: ({ folder, port }) => [
      join(folder, 'oauth2-proxy'),
      ...['--config', join(folder, 'oauth2-proxy.cfg')],
      ...[`--http-address=127.0.0.1:${port}`, '--cookie-secure=false'], // plain http, on this machine only
    ],
    button: 'button[type=submit]',
    header: 'x-forwarded-email',
  },
  {
    id: 'mod_auth_openidc',
    missing: () => [APACHE, `${MODULES}/mod_auth_openidc.so`].map(withoutFile).find(Boolean),
    fetch: () => [],
    files: (settings, place) => ({ 'apache2.conf': apache(settings, place) }),
    start: ({ folder }) => [APACHE, '-f', join(folder, 'apache2.conf'), '-D', 'FOREGROUND'],
    header: 'x-remote-user',
  },
  {
    id: 'django',
    missing: () => without('python3'),
    fetch: (folder) => [
      ['python3', '-m', 'venv', join(folder, 'venv')],
      [inVenv(folder, 'pip'), 'install', '--quiet', '--requirement', 'requirements.txt'],
    ],
    // The page shows both files in one text, each below its name.
    files: (text) => {
      const [settings = '', accounts = ''] = text.split('# accounts.py\n')
      return { 'settings.py': settings, 'accounts.py': accounts }
    },
    beside: 'django',
    prepare: (folder) => [[inVenv(folder, 'python'), 'main.py', 'migrate', '--verbosity', '0']],
    start: ({ folder, port }) => [inVenv(folder, 'python'), 'main.py', 'runserver', '--noreload', `127.0.0.1:${port}`],
  },
]
