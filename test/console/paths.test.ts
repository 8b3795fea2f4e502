import { afterAll, beforeAll, expect, it } from 'vitest'
import { SECTIONS } from '../../src/operations/console/sections/index.ts'
import { openWorld, type World } from '../harness.ts'
import { signedIn } from './person.ts'

/** Where the pages of the console are: a page at `/apps/new` would hide the page of an app with the key `new`. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const PATHS = SECTIONS.flatMap(({ lists = [], details = [], forms = [] }) => [...lists, ...details, ...forms]).map(
  ({ path }) => path,
)

/** Whose key is a number. */
const NUMBERED = /^\/partners\/:partner_id$/

it('no page is where the record of some key has its page', () => {
  const isOf = (record: string, path: string) => new RegExp(`^${record.replace(/:\w+/g, '[^/]+')}$`).test(path)
  const clashes = PATHS.flatMap((record) =>
    PATHS.filter((path) => path !== record && !NUMBERED.test(record) && isOf(record, path)).map(
      (path) => `${path} hides ${record}`,
    ),
  )
  expect(PATHS.length).toBeGreaterThan(80)
  expect(clashes).toEqual([])
})

it('an app whose key is a word of the console has its page', async () => {
  const { person } = await signedIn(world, 'editor')
  const made = await person.submit('/console/-/apps/new', {
    app_key: 'new',
    name: 'Named new',
    hosts: 'a.example',
    scopes: 'USER_INFO',
  })
  expect(made.text).toContain('/console/apps/new')
  expect((await person.get('/console/apps/new')).text).toMatch(/<h1[^>]*>[\s\S]*Named new/)
})
