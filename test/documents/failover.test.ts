import { expect, it } from 'vitest'
import { haproxyConfig, patroniConfig, SHOWN } from '../chaos/failover/configuration.ts'
import { read } from './document.ts'

it('OPERATIONS shows the configuration with which `npm run chaos -- failover` starts its nodes', () => {
  const [, shown = ''] = read('.github/OPERATIONS.md').split('<!-- patroni and haproxy:')
  const blocks = [...shown.matchAll(/^```(?:yaml)?\n([\s\S]*?)^```$/gm)].map(([, block]) => block)
  const { members, surroundings } = SHOWN
  expect(blocks.slice(0, 2)).toEqual([patroniConfig(members[0] as never, surroundings), haproxyConfig(members, 5000)])
})
