/**
 * Stands in the bundle for what Fastify requires and never uses here: HTTP/2, versions of plugins, addresses of proxies,
 * compilers of schemas (src/platform/http/fastify.ts) and requests without a connection.
 */
