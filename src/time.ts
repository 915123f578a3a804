/** A time, in milliseconds, as every answer and message prints it. */
export const iso = (time: number): string => new Date(time).toISOString()
