/**
 * Node 20 has no `navigator`. Without one, pg finds out whether it runs at Cloudflare by making a Response, for which Node
 * loads its whole fetch: a tenth of a start. Newer ones have this very one.
 */
if (!('navigator' in globalThis)) {
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent: `Node.js/${process.versions.node}` } })
}
