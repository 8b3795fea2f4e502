import { describe, expect, it } from 'vitest'
import { networkOf, siteOf, subnetOf } from '../../src/platform/throttle/network.ts'

describe('the network by which failures are counted', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

it.each([
  ['203.0.113.7', '203.0.113.0/24', undefined],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['unknown', 'unknown', undefined],
])('%s is in the subnet %s and the site %s', (address, subnet, site) => {
  expect([subnetOf(address), siteOf(address)]).toEqual([subnet, site])
})
