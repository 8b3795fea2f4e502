import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { userInfoResult } from '../../src/authorization/resource/wire.ts'

/** How the consent page names each field of A5; it must promise nothing else (DECISIONS "Decided about area A"). */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  en: { name: 'Name', gender: 'gender', big_avatar_url: 'avatar', user_id: 'user ID', cid: 'user ID' },
  'zh-CN': { name: '姓名', gender: '性别', big_avatar_url: '头像', user_id: '用户 ID', cid: '用户 ID' },
}

it.each(Object.entries(WORDS))('the consent page in %s lists exactly the fields of A5', (language, words) => {
  const file = new URL(`../../views/locales/${language}.json`, import.meta.url)
  const promised = JSON.parse(readFileSync(file, 'utf8'))['scope.user_info.detail'].split(/, | and |、|和/)
  const given = Object.keys(userInfoResult({} as Parameters<typeof userInfoResult>[0]).uinfo)
  expect(promised.sort()).toEqual([...new Set(given.map((field) => words[field]))].sort())
})
