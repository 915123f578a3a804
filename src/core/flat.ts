/**
 * Joins texts into a flat string. Concatenation builds a rope, which JSON.stringify flattens for each response. Flat
 * addresses and the cached address of the request's Host were a large part of 14 % of benchmark P2
 * (docs/notes/performance.md).
 */
export const flat = (...parts: string[]): string => parts.join('')
