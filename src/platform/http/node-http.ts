/**
 * Node's modules for HTTP and TLS. An `import` would read all exports: an HTTP client that is never used, 40 ms and 16 MB,
 * or the certificates of all authorities. TLS takes a third of Node's own start, so its first request loads it.
 */
export const http = process.getBuiltinModule('node:http')
export const loadHttps = () => process.getBuiltinModule('node:https')
export const loadTls = () => process.getBuiltinModule('node:tls')
