import type { Action } from '../../platform/lib/action.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'

/** `app` of `app_rotate_secret`; a group of actions may have field texts of its own. */
const groupOf = ({ id }: Pick<Action, 'id'>): string => id.split('_', 1)[0] ?? ''

/** The key of a field's label: the one of this action or group of actions, else the shared one. */
const keyOf = (t: Translate, action: Pick<Action, 'id'>, name: string): string => {
  const own = [action.id, groupOf(action)].map((of) => `field.${of}.${name}`)
  return own.find((key) => t.has(key)) ?? `field.${name}`
}

/** A field's label, or its name on the wire if it has no text. */
export function labelOf(t: Translate, action: Pick<Action, 'id'>, name: string): string {
  const key = keyOf(t, action, name)
  return t.has(key) ? t(key) : name
}

/** A field's hint in this action, else in its group, else the shared one, which does not fit filters of a list. */
export function hintOf(t: Translate, action: Pick<Action, 'id' | 'list' | 'route'>, name: string): string | undefined {
  const own = [action.id, groupOf(action)].map((of) => `field.${of}.${name}.hint`)
  const keys = [`action.${action.id}.${name}`, ...own]
  const isFilter = action.list && action.route.startsWith('GET ')
  const key = [...keys, ...(isFilter ? [] : [`field.${name}.hint`])].find((candidate) => t.has(candidate))
  return key && t(key)
}

/** The label of one of a field's values, if it has a text. */
export function choiceOf(t: Translate, action: Pick<Action, 'id'>, name: string, value: string): string | undefined {
  const key = `${keyOf(t, action, name)}.${value}`
  return t.has(key) ? t(key) : sharedChoice(t, name, value)
}

/** Like `choiceOf`, for a field that means the same in every action. */
export function sharedChoice(t: Translate, name: string, value: string): string | undefined {
  const key = `choice.${name}.${value}`
  return t.has(key) ? t(key) : undefined
}
