/** Why a PostgreSQL cannot be reached, does not start or has ended, and how to fix that. */
export interface Diagnosis {
  readonly message: string
  /** Whether waiting may fix it, so that another try is worth it. */
  readonly isTransient: boolean
}

type Known = readonly [pattern: RegExp, message: (dataDir: string) => string, isTransient?: true]

const KNOWN: readonly Known[] = [
  [
    /pre-existing shared memory block|lock file "postmaster.pid" already exists/,
    (dataDir) =>
      `a process of the PostgreSQL that ran on ${dataDir} before has not ended yet; if it stays, end it (its name is postgres)`,
    true,
  ],
  [
    /No space left on device|Disk quota exceeded/,
    (dataDir) => `the disk that holds ${dataDir} is full; free some space on it`,
  ],
  [/Read-only file system/, (dataDir) => `the file system that holds ${dataDir} is read-only; make it writable`],
  [
    /could not (create|map|resize|attach).*shared memory|out of memory|Cannot allocate memory/i,
    () =>
      'there is not enough memory for PostgreSQL; end other programs, or set DATABASE_URL to a PostgreSQL elsewhere',
  ],
  [
    /wrong ownership|Permission denied|invalid permissions/,
    (dataDir) =>
      `the files in ${dataDir}/postgres/ are not owned by the user that runs PostgreSQL (under root it is nobody): change their owner with chown -R`,
  ],
  [
    /could not locate a valid checkpoint record|invalid magic number|incorrect checksum|could not find WAL file|invalid page/,
    (dataDir) => `the files of the database in ${dataDir} are damaged; restore them from a backup`,
  ],
]

/** Errors of single clients, which say nothing about the server's own state. */
const OF_CLIENTS =
  /^(the database system is|terminating connection|password authentication|database "|role "|no pg_hba)/

const lastErrorIn = (output: string, kinds: RegExp): string | undefined =>
  output
    .split('\n')
    .flatMap((line) => kinds.exec(line)?.[1] ?? [])
    .filter((text) => !OF_CLIENTS.test(text))
    .at(-1)

/** Why a server ended before it was ready. */
export function diagnoseStart(output: string, dataDir: string): Diagnosis {
  const known = KNOWN.find(([pattern]) => pattern.test(output))
  if (known) return { message: known[1](dataDir), isTransient: known[2] === true }
  const error = lastErrorIn(output, /(?:FATAL|PANIC): +(.+)/)
  return { message: error ?? 'it ended without giving a reason', isTransient: false }
}

/** Why a running server ended. Only a PANIC counts, since its log holds errors of clients too. */
export function diagnoseEnd(output: string, dataDir: string): string | undefined {
  const error = lastErrorIn(output, /PANIC: +(.+)/)
  return error && (KNOWN.find(([pattern]) => pattern.test(error))?.[1](dataDir) ?? error)
}

/** Why this process, or initdb, cannot create files in `dataDir`; undefined for any other error. */
export function diagnoseFolder(message: string, dataDir: string): string | undefined {
  if (/ENOSPC|EDQUOT|No space left|quota exceeded/i.test(message))
    return `the disk that holds ${dataDir} is full; free some space on it`
  if (!/EROFS|EACCES|EPERM|Read-only file system|Permission denied/i.test(message)) return undefined
  return unusableFolder(message, dataDir)
}

export const unusableFolder = (message: string, dataDir: string): string =>
  `DATA_DIR ${dataDir} cannot be used: ${message.trim()}\nset it to a folder that this user may write to`

export const RESTORE = 'restore it from a backup; to start from scratch, set DATA_DIR to an empty folder'
