/**
 * Node's modules for HTTP and TLS. An `import` would read all exports: an HTTP client that nobody uses (40 ms, 16 MB),
 * or all authorities' certificates. TLS takes a third of Node's own start, so the first request that needs it loads it.
 */
export const http = process.getBuiltinModule('node:http')
export const loadHttps = () => process.getBuiltinModule('node:https')
export const loadTls = () => process.getBuiltinModule('node:tls')
