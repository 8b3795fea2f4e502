import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium, type Page } from 'playwright-core'

// Below node_modules, so `npm ci` removes it and no other user of the machine can place a program there.
const CACHE = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--font-render-hinting=none',
  // Tests cannot reach the network: only this machine resolves.
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
]

const FONTS = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <dir>${folder}/fonts/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`

/**
 * Unpacks Chromium and the libraries it needs (NSS, for machines without any) once per installation. It is unpacked
 * next to its final folder and renamed in one step, because test files that run in parallel may all do this at once.
 */
async function unpack(): Promise<string> {
  const folder = join(CACHE, 'chromium')
  // Checks the program, not just the folder: a Chromium whose folder is deleted while it runs recreates it for its font cache.
  const isThere = (): boolean => existsSync(join(folder, 'chromium'))
  if (isThere()) return folder
  mkdirSync(CACHE, { recursive: true })
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env
  const unfinished = mkdtempSync(`${folder}-`)
  try {
    // The package unpacks to TMPDIR, and unpacks the libraries only if it believes it is on Amazon Linux.
    Object.assign(process.env, { TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' })
    await sparticuz.executablePath()
  } finally {
    restore({ TMPDIR, AWS_EXECUTION_ENV })
  }
  writeFileSync(join(unfinished, 'fonts', 'fonts.conf'), FONTS(folder))
  try {
    if (!isThere()) rmSync(folder, { recursive: true, force: true })
    renameSync(unfinished, folder)
  } catch {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

function restore(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** Only ends what hangs, even on a very busy machine; below the test timeout, so that the failure says what was waited for. */
const PATIENT_MS = 300_000

/** A real Chromium, installed from npm packages alone; works as root. */
async function openBrowser(): Promise<Browser> {
  const folder = await unpack()
  const browser = await chromium.launch({
    timeout: PATIENT_MS,
    executablePath: join(folder, 'chromium'),
    args: FLAGS,
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  })
  browser.on('context', (context) => context.setDefaultTimeout(PATIENT_MS))
  return browser
}

let shared: Promise<Browser> | undefined

/** One browser for all tests of a worker; it ends with the worker. Callers close the contexts that they open. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared && !(await shared).isConnected()) shared = undefined
  shared ??= openBrowser()
  return shared
}

/**
 * Runs `act`, which navigates to another page, and resolves once that page has loaded. A click resolves when the response
 * begins, a key press even earlier: checking the page then might see the previous page, or half of the next.
 */
export async function toNextPage(page: Page, act: () => Promise<unknown>): Promise<void> {
  await page.waitForLoadState() // or the load of the current page would be taken for that of the next
  await Promise.all([page.waitForEvent('load'), act()])
}

/** The result of `look` on a page that may reload itself meanwhile, in which case `look` runs again. */
export async function lookAt<Found>(page: Page, look: () => Promise<Found>): Promise<Found> {
  for (;;) {
    await page.waitForLoadState()
    try {
      return await look()
    } catch (error) {
      if (!/execution context was destroyed/i.test(String(error))) throw error
    }
  }
}
