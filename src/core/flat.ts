/** Joins into a flat string: JSON.stringify flattens ropes each time. Part of 14 % of benchmark P2 (docs/notes/performance.md). */
export const flat = (...parts: string[]): string => parts.join('')
