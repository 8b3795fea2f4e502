import { readFileSync } from 'node:fs'
import { ROOT } from '../lib/root.ts'
import type { Translate } from '../lib/web/locale.ts'
import { settings } from './schema.ts'

/** What settings mean, for pages. Their English is in the schema. */

const CHINESE: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('views/locales/settings.zh-CN.json', ROOT), 'utf8'),
)

/** Without the marks of Markdown, which the document has. */
export function meaningOf(name: string, { locale }: Translate): string {
  const schema = settings.shape[name as keyof typeof settings.shape]
  const meaning = (locale === 'zh-CN' ? CHINESE[name] : schema?.description) ?? ''
  return meaning.replaceAll('`', '')
}
