import type { Role } from '../lib/web/admin-auth.ts'

/** Which role an operation needs: as a route below /admin/v1 and as a command. */
export interface Permission {
  readonly role: Role
  /** Method and pattern of the path below /admin/v1. */
  readonly route?: string
  /** Words of the command line. */
  readonly command?: string
}

const viewer = (route?: string, command?: string) => row('viewer', route, command)
const support = (route?: string, command?: string) => row('support', route, command)
const editor = (route?: string, command?: string) => row('editor', route, command)
const admin = (route?: string, command?: string) => row('admin', route, command)

const row = (role: Role, route?: string, command?: string): Permission => ({
  role,
  ...(route ? { route } : {}),
  ...(command ? { command } : {}),
})

const PARTNER = '/partners/:partner_id'
const PRODUCTS = `${PARTNER}/products`
const PRODUCT = `${PRODUCTS}/:partner_deal_id`
const ORDER = '/orders/:order_id'

/** Of the operations that are not rows yet. */
export const WRITTEN: readonly Permission[] = [
  viewer(`GET ${PRODUCTS}`, 'product list'),
  viewer(`GET ${PRODUCT}`, 'product show'),
  editor(`POST ${PRODUCTS}/pull`, 'product pull'),
  editor(`POST ${PRODUCT}/pull`),
  editor(`POST ${PRODUCT}/pull-prices`, 'product pull-prices'),

  viewer('GET /orders', 'order list'),
  viewer(`GET ${ORDER}`, 'order show'),
  support(`POST ${ORDER}/query`, 'order query'),
  editor('POST /orders', 'order create'),
  editor(`POST ${ORDER}/pay`, 'order pay'),
  editor(`POST ${ORDER}/close`, 'order close'),
  editor(`POST ${ORDER}/refund`, 'order refund'),
  editor(`POST ${ORDER}/refunded`, 'order refunded'),

  viewer('GET /traffic', 'traffic list'),
  viewer('GET /traffic/:id', 'traffic show'),

  // Only on the machine of the service, which has its database: whoever can do that is an admin.
  admin(undefined, 'migrate'),
  admin(undefined, 'purge'),
  admin(undefined, 'reseal'),
  admin(undefined, 'demo remove'),
]
