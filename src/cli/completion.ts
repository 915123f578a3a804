/** What a shell offers for the values of options and arguments. */
import type { RootCommand } from '@bomb.sh/tab'
import { ShellCompDirective } from '@bomb.sh/tab'
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'

type Parse<Value> = (text: string) => Value

/** A parser whose usual values a shell offers. */
export const offering = <Value>(values: readonly string[], parse: Parse<Value>): Parse<Value> =>
  Object.assign((text: string) => parse(text), { values })

export const oneOf = (values: readonly string[]): Parse<string> =>
  offering(values, text => {
    if (values.includes(text)) return text
    throw new InvalidArgumentError(`It must be one of ${values.join(', ')}.`)
  })

/** Adds the values of parsers, and the names of files where the value is called `file`. */
export function offerValues(program: Command, root: RootCommand): void {
  for (const [path, completed] of root.commands) {
    const described = path
      .split(' ')
      .reduce<Command | undefined>((parent, name) => find(parent, name), program)
    for (const option of described?.options ?? []) {
      const handler = handlerFor(root, option, /<file>/.test(option.flags))
      const known = completed.options.get(option.long?.slice(2) ?? '')
      if (handler && known) known.handler = handler
    }
    for (const argument of described?.registeredArguments ?? []) {
      const handler = handlerFor(root, argument, argument.name() === 'file')
      const known = completed.arguments.get(argument.name())
      if (handler && known) known.handler = handler
    }
  }
}

const find = (parent: Command | undefined, name: string): Command | undefined =>
  parent?.commands.find(command => command.name() === name)

type Offer = (value: string, description: string) => void

function handlerFor(root: RootCommand, { parseArg }: Option | Argument, isFile: boolean) {
  if (isFile) return () => offerFiles(root)
  const values = parseArg && 'values' in parseArg ? (parseArg.values as string[]) : undefined
  return (
    values &&
    ((offer: Offer) => {
      for (const value of values) offer(value, '')
    })
  )
}

/** tab sets and then prints that no file fits. Without that, once, the shell completes the names of files itself. */
function offerFiles(root: RootCommand): void {
  const value = ShellCompDirective.ShellCompDirectiveDefault
  Object.defineProperty(root, 'directive', {
    configurable: true,
    set: () => {},
    get() {
      Object.defineProperty(root, 'directive', { value, writable: true })
      return value
    },
  })
}
