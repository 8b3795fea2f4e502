/**
 * For the name of a plugin without one, Fastify searches all CommonJS modules that are loaded, some seventy times for
 * each app: a tenth of the time that opening an app takes in tests, which load many.
 */
Object.defineProperty(Function.prototype, Symbol.for('fastify.display-name'), {
  value: 'plugin',
  writable: true, // plugins set it
  configurable: true,
})
