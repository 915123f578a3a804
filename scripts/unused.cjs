/**
 * Replaces in the bundle modules that Fastify requires but never uses here: HTTP/2, versions of plugins, addresses of
 * proxies, compilers of schemas (src/platform/http/fastify.ts) and requests without a connection.
 */
