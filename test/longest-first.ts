import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, so begins first: then all workers end at about the same time. Any other order is right too. */
const LONGEST = [
  'run.browser.test.ts',
  'bench.test.ts',
  'plans.test.ts',
  'requests.test.ts',
  'pulls.test.ts',
  'partners.test.ts',
  'starters.test.ts',
  'processes.test.ts',
  'sandbox-headless.test.ts',
  'notices-canary.test.ts',
  'canary.test.ts',
  'sandbox-walk.browser.test.ts',
  'mistakes.test.ts',
  'steps.test.ts',
  'snippets.test.ts',
  'worker.test.ts',
  'traffic.browser.test.ts',
  'shutdown.test.ts',
  'kill.test.ts',
  'notices-kill.test.ts',
  'embedded.test.ts',
  'stream-routes.test.ts',
  'pages.browser.test.ts',
  'outage.test.ts',
  'exchange.test.ts',
  'refresh.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => LONGEST.indexOf(basename(moduleId)) + 1 || LONGEST.length + 1
    // A worker goes on with the files of one project.
    const byProject = (a: TestSpecification, b: TestSpecification) => a.project.name.localeCompare(b.project.name)
    return [...files].sort((a, b) => byProject(a, b) || rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId))
  }
}
