import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium, type Page } from 'playwright-core'

// Below node_modules, so `npm ci` clears it away and no other user of the machine can put a program there.
const PLACE = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--font-render-hinting=none',
  // Tests cannot reach the network: only this machine has a name.
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
 * Unpacks Chromium with the libraries it needs (NSS, for machines without any) once an installation. It is
 * unpacked beside its place and moved there in one step, because test files that run at once all come here.
 */
async function unpack(): Promise<string> {
  const folder = join(PLACE, 'chromium')
  // Not only the folder: a Chromium whose own was removed while it ran leaves one with its cache of fonts.
  const isThere = (): boolean => existsSync(join(folder, 'chromium'))
  if (isThere()) return folder
  mkdirSync(PLACE, { recursive: true })
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env
  const unfinished = mkdtempSync(`${folder}-`)
  try {
    // The package unpacks to TMPDIR, and the libraries only where it believes to be on Amazon Linux.
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

/** Below the time-out of a test, so that the failure names what was waited for: only ends what hangs, on the busiest machine. */
const PATIENT_MS = 300_000

/** A real Chromium, from npm packages alone; works as root. */
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

/** One for all tests of a worker, with which it ends. Who opens contexts closes them. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared && !(await shared).isConnected()) shared = undefined
  shared ??= openBrowser()
  return shared
}

/**
 * Does what leads to another page, and resolves when that page is all there. A click is done when the answer begins, a key
 * before: who looks at the page then may see the one before, or half of the next.
 */
export async function toNextPage(page: Page, act: () => Promise<unknown>): Promise<void> {
  await page.waitForLoadState() // or the page before would be taken for the next
  await Promise.all([page.waitForEvent('load'), act()])
}

/** What is found on a page that may load itself anew meanwhile: then it is looked at once more. */
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
