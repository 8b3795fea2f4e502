import { defineConfig } from 'vitest/config'
import { HowToRun } from './how-to-run.ts'
import { LongestFirst } from './longest-first.ts'
import { testProcesses } from './test-processes.ts'
import { unitTests } from './tiers.ts'

/** Tests that need other programming languages; `npm run interop` runs them. */
const LANGUAGES = 'test/**/*.languages.test.ts'
/** Set by `npm run test:unit`. */
const UNIT_ALONE = process.env.TEST_TIER === 'unit'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    reporters: ['default', new HowToRun()],
    pool: testProcesses,
    // Files of one worker share their imports, so each worker loads the app only once.
    isolate: false,
    // Compiled modules are reused by the next run.
    experimental: { fsModuleCache: true },
    // Twice the cores of a small machine, as tests also wait for processes and for time to pass. Six were no faster at three
    // times the load.
    maxWorkers: 4,
    setupFiles: ['test/record-stacks.ts', 'test/english-equals.ts', 'test/cheap-hashes.ts', 'test/plugin-names.ts'],
    sequence: { sequencer: LongestFirst },
    // These only end what hangs, even on a very busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    projects: [
      // One project for both tiers: files of two projects never share a process, and each process has to load the app.
      {
        extends: true,
        test: {
          name: 'node',
          include: UNIT_ALONE ? unitTests() : ['test/**/*.test.ts'],
          exclude: [LANGUAGES],
          globalSetup: ['test/global-setup.ts'],
        },
      },
      { extends: true, test: { name: 'languages', include: [LANGUAGES], globalSetup: ['test/global-setup.ts'] } },
    ],
  },
})
