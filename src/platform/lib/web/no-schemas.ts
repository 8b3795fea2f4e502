const refuse = () => {
  throw new Error('a route has no schema here: zod reads what comes in')
}

/** Keeps Fastify from loading its schema compilers at every start: zod parses all input, so no route has a schema. */
export const NO_SCHEMAS = { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } }
