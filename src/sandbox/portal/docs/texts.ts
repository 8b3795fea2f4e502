import { type Locale, type Translate, translator } from '../../../platform/lib/web/locale.ts'
import type { FunctionId } from '../../test-plan/index.ts'
import { messageName } from '../interface-title.ts'
import { functionAbout, functionName } from '../texts.ts'
import type { Direction } from './anchor.ts'
import type { FieldKind, SchemaField } from './field.ts'

const KINDS = {
  text: 'sandbox.docs.kind_text',
  id: 'sandbox.docs.kind_id',
  int: 'sandbox.docs.kind_int',
  int64: 'sandbox.docs.kind_int64',
  digits: 'sandbox.docs.kind_digits',
  price: 'sandbox.docs.kind_price',
  stock: 'sandbox.docs.kind_int',
  date: 'sandbox.docs.kind_date',
  datetime: 'sandbox.docs.kind_datetime',
  time: 'sandbox.docs.kind_time',
  boolean: 'sandbox.docs.kind_boolean',
  object: 'sandbox.docs.kind_object',
  any: 'sandbox.docs.kind_any',
} as const satisfies Record<FieldKind, string>

const DIRECTIONS = {
  request: 'sandbox.docs.request',
  answer: 'sandbox.docs.answer',
  notice: 'sandbox.docs.notice',
} as const satisfies Record<Direction, string>

/** `Order create · Response · body.partnerOrderId`: what an anchor of the field reference leads to. */
export function anchorText(anchor: string, t: Translate): string {
  const [name = '', direction = '', ...path] = anchor.split('.')
  const part = isDirection(direction) && direction !== 'notice' ? [t(DIRECTIONS[direction])] : []
  return [messageName(name, t), ...part, ...(path.length > 0 ? [path.join('.')] : [])].join(' · ')
}

const isDirection = (text: string): text is Direction => text in DIRECTIONS

/** Texts of the field reference for the values that it is made of. */
export function docsTexts(locale: Locale) {
  const t = translator(locale)
  return {
    /** `number`, `list of id, at most 1,000 entries`, `number: 1, 2`. */
    kind: ({ kind, list, values, most }: SchemaField): string => {
      const type =
        values.length > 0
          ? t('sandbox.docs.kind_values', { kind: t(KINDS[kind]), values: values.join(t('sandbox.list.separator')) })
          : t(KINDS[kind])
      const shown = list ? t('sandbox.docs.list', { of: type }) : type
      if (most === undefined) return shown
      const key = list ? 'sandbox.docs.most_entries' : 'sandbox.docs.most_characters'
      return t(key, { kind: shown, most: most.toLocaleString('en') })
    },
    functionName: (id: FunctionId): string => functionName(id, t),
    functionAbout: (id: FunctionId): string => functionAbout(id, t),
    /** Title of an interface or notice; any other text stays itself. */
    title: (name: string): string => messageName(name, t),
    direction: (direction: Direction): string => t(DIRECTIONS[direction]),
  }
}
