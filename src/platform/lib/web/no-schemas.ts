const refuse = () => {
  throw new Error('a route has no schema here: zod reads what comes in')
}

/** For Fastify. Zod reads what comes in, so no route has a schema: without this, every start would load compilers for them. */
export const NO_SCHEMAS = { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } }
