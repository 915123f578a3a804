/**
 * Stands in the bundle for what Fastify requires and never uses here: HTTP/2, versions of plugins, compilers of schemas
 * (src/platform/http/fastify.ts) and requests without a connection.
 */
