/** Exit codes of the commands. 0 is success. */
export const EXIT = {
  /** The command failed, or the payment ended in another way than asked. */
  failed: 1,
  usage: 2,
  /** A mistake was found. The help of the command says which mistakes it looks for. */
  wrong: 3,
  /** The service cannot be reached, or refuses the key. */
  unreachable: 4,
} as const

export class CommandError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

export const wrongUsage = (message: string) => new CommandError(message, EXIT.usage)
