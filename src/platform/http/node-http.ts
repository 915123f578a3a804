/**
 * Node's modules for HTTP and TLS, for their values. An `import` of one would read all that it exports: an
 * HTTP client of another kind, which takes 40 ms and 16 MB to load and is never used, or the certificates
 * of all authorities. Those for TLS take a third of Node's own start, so the first request over TLS loads them.
 */
export const http = process.getBuiltinModule('node:http')
export const loadHttps = () => process.getBuiltinModule('node:https')
export const loadTls = () => process.getBuiltinModule('node:tls')
