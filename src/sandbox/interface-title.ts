import { interfaceNamed } from '../interfaces/index.ts'
import { type Locale, type Translate, translator } from '../lib/web/locale.ts'

/** The name of an interface in the reader's language; any other text as it is. */
export const interfaceName = (name: string, t: Translate): string =>
  interfaceNamed(name) ? t(`sandbox.interface.${name.replaceAll('-', '_')}`) : name

/** The same; undefined for any other text. */
export const interfaceTitle = (name: string, locale: Locale): string | undefined =>
  interfaceNamed(name) && interfaceName(name, translator(locale))
