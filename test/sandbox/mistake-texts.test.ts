import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { explainMistake } from '../../src/sandbox/portal/texts.ts'
import { EXPLANATIONS } from '../../src/ticketing/mws/diagnose/mistakes.ts'

const zh: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../views/locales/mistakes.zh-CN.json', import.meta.url), 'utf8'),
)

describe('the explanations of mistakes', () => {
  it('exist in Chinese for exactly the mistakes that can be reported, in the same order', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(EXPLANATIONS))
    for (const [name, text] of Object.entries(zh)) expect(text, name).toMatch(/[\u4e00-\u9fff].*。$/)
  })

  it('are in the reader’s language', () => {
    expect(explainMistake('en', 'newline-missing')).toMatch(/^The line feed between path and Date is missing\./)
    expect(explainMistake('zh-CN', 'newline-missing')).toMatch(/^路径与 Date 之间缺少换行符。/)
  })
})
