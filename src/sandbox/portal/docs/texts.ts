import { type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import type { FunctionId } from '../../test-plan/index.ts'
import { functionAbout, functionName, messageName } from '../texts.ts'
import type { FieldKind, SchemaField } from './field.ts'
import type { Direction } from './notices.ts'

const kindText = (kind: FieldKind, t: Translate): string => t(`sandbox.docs.kind_${kind === 'stock' ? 'int' : kind}`)

/** The target of an anchor in words: `Order create · Response · body.partnerOrderId`. */
export function anchorText(anchor: string, t: Translate): string {
  const [name = '', direction = '', ...path] = anchor.split('.')
  const part = direction === 'request' || direction === 'answer' ? [t(`sandbox.docs.${direction}`)] : []
  return [messageName(name, t), ...part, ...(path.length > 0 ? [path.join('.')] : [])].join(' · ')
}

/** Texts for the values in the field reference. */
export function docsTexts(locale: Locale) {
  const t = translator(locale)
  return {
    /** `number`, `list of id, at most 1,000 entries`, `number: 1, 2`. */
    kind: ({ kind, list, values, most }: SchemaField): string => {
      const type =
        values.length > 0
          ? t('sandbox.docs.kind_values', { kind: kindText(kind, t), values: values.join(t('layout.between')) })
          : kindText(kind, t)
      const shown = list ? t('sandbox.docs.list', { of: type }) : type
      if (most === undefined) return shown
      const key = list ? 'sandbox.docs.most_entries' : 'sandbox.docs.most_characters'
      return t(key, { kind: shown, most: most.toLocaleString('en') })
    },
    functionName: (id: FunctionId): string => functionName(id, t),
    functionAbout: (id: FunctionId): string => functionAbout(id, t),
    /** Title of an interface or notice; other texts are returned unchanged. */
    title: (name: string): string => messageName(name, t),
    direction: (direction: Direction): string => t(`sandbox.docs.${direction}`),
  }
}
