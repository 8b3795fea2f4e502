import { join } from 'node:path'

/** How to install the libraries and start the programs of each language in this folder. */

export type Command = readonly [program: string, ...argv: string[]]

export interface Language {
  readonly name: string
  /** Programs that have to be on the PATH. */
  readonly needs: readonly string[]
  /**
   * Downloads the libraries into `folder`; one that fails leaves the language out. Run in the language's own folder.
   */
  readonly fetch: (folder: string) => readonly Command[]
  /** The commands to run, by the names of the libraries. */
  readonly programs: (folder: string) => Readonly<Record<string, Command>>
  /** Environment variables that keep downloads and builds in `folder`. */
  readonly environment?: (folder: string) => Readonly<Record<string, string>>
}

const inVenv = (folder: string, program: string): string => join(folder, 'venv', 'bin', program)

export const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    needs: ['python3'],
    fetch: (folder) => [
      ['python3', '-m', 'venv', join(folder, 'venv')],
      [inVenv(folder, 'pip'), 'install', '--quiet', '--requirement', 'requirements.txt'],
    ],
    programs: (folder) => ({
      Authlib: [inVenv(folder, 'python'), '-B', 'authlib_client.py'],
      'requests-oauthlib': [inVenv(folder, 'python'), '-B', 'requests_oauthlib_client.py'],
    }),
  },
  {
    name: 'go',
    needs: ['go'],
    fetch: () => [['go', 'mod', 'download']],
    programs: () => ({ 'golang.org/x/oauth2 with go-oidc': ['go', 'run', '-mod=readonly', '.'] }),
    // Modules are read-only files; the flag lets the folder be deleted.
    environment: (folder) => ({ GOPATH: folder, GOCACHE: join(folder, 'cache'), GOFLAGS: '-modcacherw' }),
  },
  {
    name: 'java',
    needs: ['java', 'mvn'],
    fetch: (folder) => [
      [
        'mvn',
        ...['--batch-mode', '--quiet', `-Dmaven.repo.local=${join(folder, 'repository')}`],
        ...['dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`],
      ],
    ],
    programs: (folder) => ({ Nimbus: ['java', '-cp', join(folder, 'lib', '*'), 'Nimbus.java'] }),
  },
]
