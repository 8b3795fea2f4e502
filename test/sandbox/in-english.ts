import { translator } from '../../src/platform/lib/web/locale.ts'
import type { Finding } from '../../src/sandbox/checks/checks.ts'
import { detailText } from '../../src/sandbox/portal/texts.ts'

const t = translator('en')

/** A finding with its details in English. */
export const inEnglish = ({ expected, actual, ...finding }: Finding): Finding => ({
  ...finding,
  ...(expected === undefined ? {} : { expected: detailText(expected, t) }),
  ...(actual === undefined ? {} : { actual: detailText(actual, t) }),
})
