import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled } from '../../is-installed.ts'
import type { Command } from '../languages.ts'

/** Finished programs that run with the settings that /connect shows for them (views/developer/programs). */

export interface Program {
  /** The name of its settings on the page. */
  readonly id: string
  /** Why it cannot run on this machine. */
  readonly missing: () => string | undefined
  /** Gets the program; where that fails, it is not run. */
  readonly fetch: (folder: string) => readonly Command[]
  /** Its files, by their names. */
  readonly files: (settings: string, place: Place) => Readonly<Record<string, string>>
  /** What is copied beside them, of this folder. */
  readonly beside?: string
  readonly prepare?: (folder: string) => readonly Command[]
  readonly start: (place: Place) => Command
  readonly environment?: (folder: string) => Readonly<Record<string, string>>
  /** What a person clicks before the browser leaves for the sign-in page. */
  readonly button?: string
  /** Whom it takes the person for: the header that the application behind it is sent; else its page says it. */
  readonly header?: string
}

interface Place {
  readonly folder: string
  /** Where it listens on 127.0.0.1. */
  readonly port: number
  /** The application behind it, which shows the headers of each request. */
  readonly behind: number
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

/** What Debian has in /etc/apache2: the least that a virtual host needs. User and Group are for root alone. */
const apache = (virtualHost: string, { folder, port, behind }: Place): string => `
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
ProxyPass / http://127.0.0.1:${behind}/
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
    // The page shows both files, each below its name.
    files: (text) => {
      const [settings = '', accounts = ''] = text.split('# accounts.py\n')
      return { 'settings.py': settings, 'accounts.py': accounts }
    },
    beside: 'django',
    prepare: (folder) => [[inVenv(folder, 'python'), 'main.py', 'migrate', '--verbosity', '0']],
    start: ({ folder, port }) => [inVenv(folder, 'python'), 'main.py', 'runserver', '--noreload', `127.0.0.1:${port}`],
  },
]
