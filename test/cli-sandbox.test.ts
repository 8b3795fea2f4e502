import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readProducts } from '../src/operations/cli/sandbox-run.ts'
import { gatehouse } from './cli-runner.ts'

/** The arguments of `gatehouse sandbox run` are either understood or rejected before anything is sent. */

const DEMO = { main: 'X', later: 'Y' }

describe('the option --product', () => {
  it.each([
    [['X'], { main: 'X' }],
    [['X', 'later=Y'], DEMO],
    [['X,later=Y'], DEMO],
    [[' X , later = Y '], DEMO],
    [['later=Y,main=X'], DEMO],
    [['X,sold-out=S'], { main: 'X', sold_out: 'S' }],
    [['X', 'sold_out=S'], { main: 'X', sold_out: 'S' }],
    [['main=a=b'], { main: 'a=b' }],
  ])('accepts %j', (typed, products) => {
    expect(readProducts(typed)).toEqual({ products, problems: [] })
  })

  it.each([
    [['X,Y'], '"Y" would be a second main product'],
    [['X', 'main=Y'], '"main=Y" would be a second main product'],
    [['later=X,later=Y'], '"later=Y" would be a second later product'],
    [['X,'], '"" names no product'],
    [[''], '"" names no product'],
    [['X,later='], '"later=" names no product'],
    [['X,lather=Y'], '"lather=Y" must begin with main=, later=, review=, level=, sold_out='],
    [['a=b'], 'an id with "=" is written main=a=b'],
  ])('rejects %j', (typed, why) => {
    expect(readProducts(typed).problems).toEqual([expect.stringContaining(why)])
  })
})

const run = (...args: string[]) =>
  // Nothing listens there: sending anything would fail with another message and exit code 1.
  gatehouse(
    { CLIENT_SECRET: 's' },
    'sandbox',
    'run',
    '--client-id',
    'x',
    ...(args.includes('--url') ? [] : ['--url', 'http://127.0.0.1:9']),
    ...args,
  )
const FUNCTIONS = ['--function', 'product-pull,pay-at-once', '--function', 'refund-at-once']
const GOOD = [...FUNCTIONS, '--product', 'X,later=Y']

describe('gatehouse sandbox run', () => {
  it.each([
    [
      'two products of one role',
      [...FUNCTIONS, '--product', 'X,Y'],
      /^--product {2}"Y" would be a second main product/,
    ],
    ['no main product', [...FUNCTIONS, '--product', 'later=Y'], /^--product {2}"main" is required\n$/],
    [
      'sold-out without its product',
      [...GOOD, '--function', 'sold-out'],
      /^--product {2}"sold_out" is required for the function sold-out\n$/,
    ],
    [
      'an unknown function in a list',
      ['--function', 'pay-at-once,fly', '--product', 'X'],
      /^--function {2}"fly" must be /,
    ],
    ['a list of no function', ['--function', ',', '--product', 'X'], /^--function {2}names no function\n$/],
    [
      'no way to refund',
      ['--function', 'pay-at-once,product-pull', '--product', 'X'],
      /^--function {2}must have refund-/,
    ],
    [
      'functions beside all',
      [...GOOD, '--all'],
      /^--function {2}or --all, not both \(only robustness may be combined with --all\)\n$/,
    ],
    ['too many days', [...GOOD, '--days-ahead', '31'], /^--days-ahead .*30/],
    [
      'a function that is cut off from its list',
      [...FUNCTIONS, 'sold-out', '--product', 'X'],
      /^sold-out {2}is not expected; to give an option several values, repeat it\n$/,
    ],
    ['a date that does not exist', [...GOOD, '--travel-date', '2026-02-30'], /^--travel-date {2}must be /],
    ['a price with a comma', [...GOOD, '--unit-price', '12,50'], /^--unit-price {2}must be /],
    ['a price below zero', [...GOOD, '--buy-price', '-1'], /^--buy-price {2}must be from 0 /],
    [
      'no price where none can be asked for',
      ['--function', 'pay-at-once,refund-at-once', '--product', 'X'],
      /^--unit-price {2}is required without /,
    ],
    ['half a ticket', [...GOOD, '--quantity', '2.5'], /^--quantity {2}must be a whole number\n$/],
    ['too many tickets', [...GOOD, '--quantity', '11'], /^--quantity {2}must be at most 10\n$/],
    [
      'a quantity typed twice',
      [...GOOD, '--quantity', '2', '--quantity', '3'],
      /^--quantity {2}is given more than once\n$/,
    ],
    ['a time with a unit', [...GOOD, '--timeout', '10m'], /^--timeout {2}must be a whole number of seconds\n$/],
    [
      'a file that is an option',
      [...GOOD, '--junit', '--overwrite'],
      /^--junit {2}needs a value; --overwrite is an option\n$/,
    ],
    [
      'a product that is an option',
      [...FUNCTIONS, '--product', '--overwrite'],
      /^--product {2}needs a value; --overwrite/,
    ],
    ['the demo without its partner', [...GOOD, '--demo'], /^--demo {2}needs --partner\n$/],
    [
      'a PartnerId beside --partner',
      [...GOOD, '--partner', '7', '--partner-id', '8'],
      /--partner-id {2}goes with --client-id only/,
    ],
    ['an unknown option', [...GOOD, '--fast'], /^--fast {2}is not an option\n$/],
  ])('rejects %s', async (_what, args, why) => {
    const { code, stdout, stderr } = await run(...args)
    expect(stderr).toMatch(why)
    expect([code, stdout]).toEqual([2, ''])
  })

  it('reports everything that is missing or wrong at once', async () => {
    expect(await gatehouse({}, 'sandbox', 'run')).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        '--partner   or --client-id is required, and only one of them',
        '--function  or --all is required',
        '--product   is required\n',
      ].join('\n'),
    })
    const typed = await gatehouse({}, 'sandbox', 'run', '--url', 'ftp://x', '--function', 'x')
    expect(typed).toMatchObject({ code: 2, stdout: '' })
    expect(typed.stderr).toMatch(
      /^--url +must be an http:\/\/ or https:\/\/ address\n--function +"x" must be product-pull or /,
    )
  })

  it('needs CLIENT_SECRET together with --client-id', async () => {
    expect(await gatehouse({}, 'sandbox', 'list', '--client-id', 'x')).toEqual({
      code: 1,
      stdout: '',
      stderr: '--client-id needs the clientSecret in the environment: CLIENT_SECRET\n',
    })
  })

  it('rejects a URL with a query', async () => {
    const args = ['sandbox', 'list', '--client-id', 'x', '--url', 'http://127.0.0.1:9/?a=1']
    expect((await gatehouse({ CLIENT_SECRET: 's' }, ...args)).stderr).toMatch(/^--url {2}must not have a query/)
  })

  it('says after how long it gave up on a platform that accepts the connection and is silent', async () => {
    const silent = createServer(() => {})
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    const answer = await run(...GOOD, '--url', `http://127.0.0.1:${port}`, '--timeout', '1')
    silent.close()
    expect(answer).toEqual({ code: 1, stdout: '', stderr: 'not finished after 1 s (--timeout)\n' })
  })

  it('says why it reached neither address of a host with two, as localhost mostly is', async () => {
    const both = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    const lookup = (_host: string, _options: object, done: (error: null, found: typeof both) => void) =>
      done(null, both)
    const asked = vi.spyOn(dns, 'lookup').mockImplementation(lookup as never)
    onTestFinished(() => asked.mockRestore())
    const { stderr } = await run(...GOOD, '--url', 'http://two.example:9', '--timeout', '1')
    expect(asked).toHaveBeenCalled()
    expect(stderr).toMatch(/^http:\/\/two\.example:9 does not respond: .*ECONNREFUSED/)
  })

  it('starts sending when all arguments are valid', async () => {
    expect(await run(...GOOD, '--timeout', '2')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9 does not respond: .*ECONNREFUSED/),
    })
  })
})
