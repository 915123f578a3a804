/**
 * Node's HTTP modules, for their values. An `import` of one would read all that it exports, and among
 * that is an HTTP client of another kind, which takes 40 ms and 16 MB to load and is never used.
 */
export const http = process.getBuiltinModule('node:http')
export const https = process.getBuiltinModule('node:https')
