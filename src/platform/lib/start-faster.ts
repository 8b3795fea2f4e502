import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { ROOT } from './root.ts'

type CompileCache = { enableCompileCache?: (directory: string) => unknown }

/**
 * Keeps compiled code beside the program, so that later starts are a fifth faster. Node 20 has no such cache. The default
 * would be a folder in /tmp, where other users of the machine could plant code. A folder that cannot be written is no error.
 */
;(module as CompileCache).enableCompileCache?.(fileURLToPath(new URL('.build/parts/compiled', ROOT)))

/**
 * Node 20 has no `navigator`; newer versions have exactly this one. Without it pg detects Cloudflare by creating a
 * Response, for which Node loads all of fetch: a tenth of the start-up time.
 */
if (!('navigator' in globalThis)) {
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent: `Node.js/${process.versions.node}` } })
}
